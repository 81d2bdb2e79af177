import Base
import Testing

@testable import Subscriptions

/// The flow of a request for a refund, row by row.
struct RefundRequestTests {
    private static let start = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    private static func day(_ day: Int64) -> Timestamp { start.adding(days: day) }

    /// A month of 9.99 that began on the first day.
    private func month(_ share: Int64? = 0, at refundedAt: Int64? = nil, price: Int64? = 9_990) -> RefundableTransaction
    {
        RefundableTransaction(
            plan: .autoRenewable, price: price, share: share,
            refunded: share.flatMap { RefundHistory.amount(of: $0, price) }, refundedAt: refundedAt.map(Self.day),
            startsAt: Self.start, endsAt: Self.day(30))
    }

    private func request(
        _ kind: RefundRequest.Kind = .full, _ amount: Int64? = nil, of transaction: RefundableTransaction? = nil
    ) throws -> RefundRequest {
        try RefundRequest(kind, amount: amount, of: transaction ?? month(), at: Self.day(10))
    }

    private func approved(_ kind: RefundRequest.Kind = .full, _ amount: Int64? = nil) throws -> RefundRequest {
        var request = try request(kind, amount)
        try request.approve(amount: nil, of: month(), by: "cli:anna", at: Self.day(11))
        return request
    }

    @Test func `Pending and Apple refunds: cancelled by Apple, with amount and date`() throws {
        var request = try request()
        request.follow(month(50_000, at: 12), at: Self.day(13))
        #expect(request.state == .cancelled && request.decider == "apple" && request.decidedAt == Self.day(13))
        #expect(request.refundedByApple == .init(amount: 4_995, share: 50_000, at: Self.day(12)))
        #expect(throws: RefundRefusal.state(.cancelled, by: "apple")) {
            try request.approve(amount: nil, of: month(50_000, at: 12), by: "cli:anna", at: Self.day(14))
        }
    }

    @Test func `Rejected or cancelled before: stays so, and Apple's refund is noted`() throws {
        for state in [RefundRequest.State.rejected, .cancelled] {
            var request = try request()
            if state == .rejected { try request.reject(by: "cli:anna", at: Self.day(11)) }
            if state == .cancelled { try request.cancel(by: "cli:anna", at: Self.day(11)) }
            request.follow(month(100_000, at: 12), at: Self.day(13))
            #expect(request.state == state && request.decider == "cli:anna" && request.decidedAt == Self.day(11))
            #expect(request.refundedByApple == .init(amount: 9_990, share: 100_000, at: Self.day(12)))
            #expect(request.processedAt == nil)
        }
    }

    @Test func `Approved: a rise to any amount ends it, and the difference is noted`() throws {
        for (share, difference) in [(100_000, 0), (1, -9_990), (30_000, -6_993)] as [(Int64, Int64)] {
            var request = try approved()
            #expect(request.approved == 9_990 && request.isWhole)
            request.follow(month(share, at: 12), at: Self.day(13))
            #expect(request.state == .processed && request.processedAt == Self.day(13))
            #expect(request.difference == difference && request.decider == "cli:anna")
        }
        var partial = try approved(.partial, 4_000)
        partial.follow(month(100_000, at: 12), at: Self.day(13))
        #expect(partial.difference == 5_990 && !partial.isWhole)
    }

    @Test func `At an instant it stands as it had changed by then, and Apple's refund is in it once it was heard of`()
        throws
    {
        let (before, yes) = (try request(), try approved())
        var request = yes
        request.follow(month(100_000, at: 12), at: Self.day(13))
        #expect(request.standing(at: Self.day(9)) == nil)
        #expect(request.standing(at: Self.day(10)) == before)
        #expect(request.standing(at: Self.day(12)) == yes)
        #expect(request.standing(at: Self.day(13)) == request)
        let processed = request
        request.follow(month(), at: Self.day(15))
        #expect(request.reversedAt == Self.day(15))
        #expect(request.standing(at: Self.day(14), reversalHeardAt: Self.day(15)) == processed)
        #expect(request.standing(at: Self.day(15), reversalHeardAt: Self.day(15)) == request)
        // What Apple did about one that was rejected changed no state: when that was heard of says the books alone.
        var rejected = before
        try rejected.reject(by: "cli:anna", at: Self.day(11))
        let no = rejected
        rejected.follow(month(100_000, at: 12), at: Self.day(13))
        #expect(rejected.standing(at: Self.day(10)) == before)
        #expect(rejected.standing(at: Self.day(12), appleHeardAt: Self.day(13)) == no)
        #expect(rejected.standing(at: Self.day(14)) == no)
        #expect(rejected.standing(at: Self.day(13), appleHeardAt: Self.day(13)) == rejected)
    }

    @Test func `What was refunded before the request does not end it, and what Apple adds counts alone`() throws {
        let before = month(30_000, at: 5)
        var request = try request(of: before)
        #expect(request.requested == 6_993)
        try request.approve(amount: nil, of: before, by: "cli:anna", at: Self.day(11))
        request.follow(before, at: Self.day(12))
        #expect(request.state == .approved && request.refundedByApple == nil)
        request.follow(month(60_000, at: 13), at: Self.day(13))
        #expect(request.state == .processed && request.refundedByApple?.amount == 2_997)
    }

    @Test func `After the reversal of an earlier refund a lower one is a rise`() throws {
        let before = month(60_000, at: 5)
        var apart = try request(of: before)
        apart.follow(month(), at: Self.day(11))
        #expect(apart.state == .pending && apart.before == .init())
        apart.follow(month(20_000, at: 12), at: Self.day(12))
        #expect(apart.state == .cancelled && apart.refundedByApple?.amount == 1_998)
        var atOnce = try request(of: before)
        atOnce.follow(month(20_000, at: 12), at: Self.day(12))
        #expect(atOnce.state == .cancelled && atOnce.refundedByApple?.amount == 1_998)
        var lowered = try request(of: before)
        lowered.follow(month(20_000, at: 5), at: Self.day(12))
        #expect(lowered.state == .pending && lowered.before.share == 20_000)
    }

    @Test func `Reversed afterwards: stays processed, and more can be refunded again`() throws {
        var request = try approved()
        request.follow(month(100_000, at: 12), at: Self.day(12))
        #expect(try month(100_000, at: 12).maxRefundable() == 0)
        var reversed = month()
        reversed.reversedAt = Self.day(20)
        request.follow(reversed, at: Self.day(21))
        #expect(request.state == .processed && request.reversedAt == Self.day(20))
        #expect(try reversed.maxRefundable() == 9_990)
        let noted = request
        request.follow(month(40_000, at: 25), at: Self.day(25))
        #expect(request == noted)
    }

    @Test func `A part that Apple does not state ends it, and is filled in when it is stated`() throws {
        var request = try approved()
        request.follow(month(nil, at: 12), at: Self.day(12))
        #expect(request.state == .processed && request.refundedByApple?.amount == nil && request.difference == nil)
        request.follow(month(70_000, at: 12), at: Self.day(13))
        #expect(request.refundedByApple?.amount == 6_993 && request.difference == -2_997 && request.reversedAt == nil)
        #expect(throws: RefundRefusal.unknownRefund) { try self.request(of: month(nil, at: 12)) }
    }

    @Test func `Approved for 30 days without a refund is listed as that`() throws {
        let request = try approved()
        #expect(!request.isNotRefunded(at: Self.day(41).adding(milliseconds: -1)))
        #expect(request.isNotRefunded(at: Self.day(41)))
        var ended = request
        ended.follow(month(10_000, at: 12), at: Self.day(12))
        #expect(!ended.isNotRefunded(at: Self.day(99)))
        #expect(try !self.request().isNotRefunded(at: Self.day(99)))
    }

    @Test func `Recorded by staff with a reference: processed, once, and at most what is left`() throws {
        var request = try approved()
        let refund = RefundRequest.ElsewhereRefund(reference: "bank 7", amount: 9_990, at: Self.day(12))
        #expect(throws: RefundRefusal.tooMuch(left: 9_990)) {
            try request.record(.init(reference: "x", amount: 9_991, at: Self.day(12)), of: month(), at: Self.day(12))
        }
        #expect(throws: RefundRefusal.future) { try request.record(refund, of: month(), at: Self.day(11)) }
        try request.record(refund, of: month(), at: Self.day(12))
        #expect(request.state == .processed && request.elsewhere == refund && request.processedAt == Self.day(12))
        #expect(throws: RefundRefusal.state(.processed, by: "cli:anna")) {
            try request.record(refund, of: month(), at: Self.day(13))
        }
        request.follow(month(100_000, at: 14), at: Self.day(14))
        #expect(request.refundedByApple?.amount == 9_990 && request.elsewhere == refund)
        var pending = try self.request()
        #expect(throws: RefundRefusal.state(.pending, by: nil)) {
            try pending.record(refund, of: month(), at: Self.day(12))
        }
    }

    @Test func `Only a pending request is decided`() throws {
        var states = [try approved()]
        states += [try request(), try request()]
        try states[1].reject(by: "cli:anna", at: Self.day(11))
        try states[2].cancel(by: "cli:anna", at: Self.day(11))
        for state in states {
            var request = state
            let refusal = RefundRefusal.state(state.state, by: "cli:anna")
            #expect(throws: refusal) { try request.approve(amount: nil, of: month(), by: "cli:b", at: Self.day(12)) }
            #expect(throws: refusal) { try request.reject(by: "cli:b", at: Self.day(12)) }
            #expect(throws: refusal) { try request.cancel(by: "cli:b", at: Self.day(12)) }
            #expect(request == state)
        }
    }

    @Test func `An amount is 1 to what is left, at the request and at the approval`() throws {
        #expect(try request(.partial, 9_990).requested == 9_990)
        #expect(throws: RefundRefusal.tooMuch(left: 9_990)) { try request(.partial, 9_991) }
        #expect(throws: RefundRefusal.tooMuch(left: 6_993)) {
            try request(.partial, 6_994, of: month(30_000, at: 5))
        }
        #expect(throws: RefundRefusal.notPositive) { try request(.partial, 0) }
        #expect(throws: RefundRefusal.noAmount) { try request(.partial) }
        #expect(throws: RefundRefusal.fixedAmount(.full)) { try request(.full, 5) }
        #expect(throws: RefundRefusal.fixedAmount(.prorated)) { try request(.prorated, 5) }
        #expect(throws: RefundRefusal.nothingLeft) { try request(of: month(100_000, at: 5)) }
        #expect(throws: RefundRefusal.free) { try request(of: month(price: 0)) }
        #expect(throws: RefundRefusal.unpriced) { try request(of: month(price: nil)) }
        var void = month()
        void.isVoid = true
        #expect(throws: RefundRefusal.neverBegan) { try request(of: void) }
        var partial = try request(.partial, 4_000)
        #expect(throws: RefundRefusal.tooMuch(left: 9_990)) {
            try partial.approve(amount: 9_991, of: month(), by: "cli:anna", at: Self.day(11))
        }
        try partial.approve(amount: 9_990, of: month(), by: "cli:anna", at: Self.day(11))
        #expect(partial.approved == 9_990)
        var full = try request()
        try full.approve(amount: 5_000, of: month(), by: "cli:anna", at: Self.day(11))
        #expect(full.approved == 5_000 && !full.isWhole)
    }

    @Test func `Prorated is the time left at the approval, half up to the thousandth`() throws {
        var request = try request(.prorated)
        #expect(request.requested == 6_660)
        try request.approve(amount: nil, of: month(), by: "cli:anna", at: Self.day(15))
        #expect(request.approved == 4_995)
        // Half of an odd amount: up. A millisecond later: down.
        let odd = month(price: 9_991)
        #expect(try odd.prorated(at: Self.day(15)) == 4_996)
        #expect(try odd.prorated(at: Self.day(15).adding(milliseconds: 1)) == 4_995)
        #expect(try month(price: 5).prorated(at: Self.day(27)) == 1)
        #expect(throws: RefundRefusal.periodOver) { try month(price: 5).prorated(at: Self.day(28)) }
        // Less what is refunded, and all of a period that has not begun.
        #expect(try month(50_000, at: 5).prorated(at: Self.day(15)) == 2_498)
        #expect(try month().prorated(at: Self.day(-1)) == 9_990)
        #expect(throws: RefundRefusal.periodOver) { try month().prorated(at: Self.day(30)) }
        var huge = month(price: .max)
        #expect(try huge.prorated(at: Self.start) == .max)
        huge.endsAt = Timestamp.distantFuture
        #expect(try huge.prorated(at: Self.day(15)) > 0)
    }

    @Test func `Only what has a term is prorated`() throws {
        for (plan, hasEnd, isFit) in [
            (.nonRenewing, true, true), (.nonRenewing, false, false), (.consumable, true, false),
            (.nonConsumable, true, false), (.autoRenewable, false, false),
        ] as [(BookedOrder.Plan, Bool, Bool)] {
            var bought = month()
            bought.plan = plan
            if !hasEnd { bought.endsAt = nil }
            if isFit {
                #expect(try request(.prorated, of: bought).requested == 6_660)
            } else {
                #expect(throws: RefundRefusal.noTerm) { try request(.prorated, of: bought) }
            }
        }
    }

    @Test func `Numbers have three digits, and four from 1000 on`() {
        #expect(RefundNumber(1).description == "RF-001" && RefundNumber(999).description == "RF-999")
        #expect(RefundNumber(1000).description == "RF-1000" && RefundNumber("rf-1000") == RefundNumber(1000))
        for wrong in ["RF-1", "RF-0001", "RF-000", "RF1", "RF-01000", "RF--01", "", "RF-99999999999999999999"] {
            #expect(RefundNumber(wrong) == nil, "\(wrong)")
        }
    }
}
