import Accounts
import AppStorePayloads
import Base
import Events
import TestSupport
import Testing

@Suite("Events of an account")
struct AccountTellingTests {
    private static let ann = UniqueIdentifier(high: 1, low: 1)

    private static func state(_ phases: (Timestamp, AccountStatus, String)...) throws -> AccountState {
        try state(phases)
    }

    private static func state(_ phases: [(Timestamp, AccountStatus, String)]) throws -> AccountState {
        try #require(
            AccountState(
                phases.map { AccountPhase(startsAt: $0.0, status: $0.1, tier: $0.2, source: .apple) }))
    }

    private static func telling(
        _ told: LastReportedAccount?, _ state: AccountState, _ evidence: [Evidence] = [], due: Timestamp? = nil,
        isOtherCatalog: Bool = false, at now: Timestamp, isFill: Bool = false
    ) -> AccountEvents {
        AccountEvents(
            told, state, of: ann, in: "Production", evidence: evidence, due: due, isOtherCatalog: isOtherCatalog,
            at: now,
            isFill: isFill)
    }

    private static func words(_ telling: AccountEvents) -> [String] {
        telling.events.map { event in
            guard case .account(let value, let previous) = event.subject else { return "?" }
            let before = previous.map { "\($0.status.rawValue) \($0.tier)" } ?? "-"
            return "\(before) > \(value.status.rawValue) \(value.tier)" + (event.isCorrection ? " (correction)" : "")
        }
    }

    @Test("another tier or another status is told with what was before; an account that never had anything is not told")
    func changed() throws {
        let free = try Self.state((.distantPast, .free, "free"))
        let first = Self.telling(nil, free, at: day(1))
        #expect(first.events.isEmpty && first.reported.nextDue(free) == nil)
        let bought = try Self.state(
            (.distantPast, .free, "free"), (day(2), .active, "pro"), (day(32), .expired, "free"))
        let evidence = Evidence(.client, asOf: day(2))
        let second = Self.telling(
            first.reported, bought, [Evidence(.refresh, asOf: day(2))], at: day(2, seconds: 5))
        #expect(Self.words(second) == ["free free > active pro"])
        #expect(second.events.first?.instant == day(2) && second.events.first?.cause == .refresh)
        #expect(Self.telling(second.reported, bought, [evidence], at: day(3)).events.isEmpty)
        #expect(second.reported.nextDue(bought) == day(32))
        let third = Self.telling(second.reported, bought, at: day(32))
        #expect(Self.words(third) == ["active pro > expired free"])
        #expect(third.events.first?.cause == .clock)
        #expect(third.reported.nextDue(bought) == nil)
    }

    @Test("an end of access that is not the deciding purchase's own is told when it moves; that one's own is not")
    func ends() throws {
        func phase(_ start: Timestamp, _ end: Timestamp?, source: Timestamp?) -> AccountPhase {
            AccountPhase(
                startsAt: start, status: .active, tier: "pro", source: .apple, expiresAt: end,
                ends: AccountPhase.Ends(source: source, tier: end, period: source))
        }
        let bought = try #require(AccountState([phase(day(2), day(32), source: day(32))]))
        let first = Self.telling(nil, bought, [Evidence(.refresh, asOf: day(2))], at: day(2))
        #expect(first.events.count == 1)
        // Renewed: events about the purchase say so.
        let renewed = try #require(
            AccountState([phase(day(2), day(32), source: day(32)), phase(day(30), day(62), source: day(62))]))
        #expect(Self.telling(first.reported, renewed, [Evidence(.refresh, asOf: day(30))], at: day(30)).events.isEmpty)
        // Staff added days.
        let added = try #require(
            AccountState([phase(day(2), day(32), source: day(32)), phase(day(20), day(62), source: day(32))]))
        let second = Self.telling(first.reported, added, [Evidence(.staff, asOf: day(20))], at: day(20))
        #expect(second.events.map(\.instant) == [day(20)] && second.events.first?.isCorrection == false)
        guard case .account(let value, let previous)? = second.events.first?.subject else {
            Issue.record("an event about the account")
            return
        }
        #expect(value.expiresAt == day(62) && previous?.expiresAt == day(32))
        #expect(Self.telling(second.reported, added, at: day(21)).events.isEmpty)
    }

    @Test("after an outage all that came to be is told in order, each with its instant")
    func outage() throws {
        let state = try Self.state(
            (.distantPast, .free, "free"), (day(0), .trial, "pro"), (day(7), .active, "pro"),
            (day(37), .gracePeriod, "pro"), (day(40), .expired, "free"), (day(90), .active, "premium"))
        let told = Self.telling(nil, state, at: day(1)).reported
        let telling = Self.telling(told, state, at: day(41))
        #expect(
            Self.words(telling) == [
                "trial pro > active pro", "active pro > grace_period pro", "grace_period pro > expired free",
            ])
        #expect(telling.events.map(\.instant) == [day(7), day(37), day(40)])
        #expect(telling.events.map(\.isLate) == [true, true, true])
        #expect(telling.reported.nextDue(state) == day(90))
    }

    @Test("what was told and was not so is corrected")
    func corrected() throws {
        let before = try Self.state((day(0), .active, "pro"), (day(30), .expired, "free"))
        let told = Self.telling(Self.telling(nil, before, at: day(1)).reported, before, at: day(31)).reported
        let after = try Self.state((day(0), .active, "pro"), (day(60), .expired, "free"))
        let telling = Self.telling(told, after, [Evidence(.reconcile, asOf: day(30))], at: day(32))
        #expect(Self.words(telling) == ["expired free > active pro (correction)"])
        #expect(telling.events.first?.cause == .reconcile)
        #expect(telling.reported.nextDue(after) == day(60))
    }

    @Test("access that ended before the last report has ended; what was told after an end, and never was, is corrected")
    func ended() throws {
        let bought = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(30), .expired, "free"))
        let cancelled = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(11), .cancelled, "pro"),
            (day(30), .expired, "free"))
        var told = Self.telling(nil, bought, at: day(1)).reported
        told = Self.telling(told, cancelled, [Evidence(.refresh, asOf: day(11))], at: day(11)).reported
        #expect(told.since == day(11) && told.heldSince == day(0))
        // Refunded on the tenth day, and heard two days later.
        let refunded = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(10), .revoked, "free"))
        let ended = Self.telling(told, refunded, [Evidence(.refresh, asOf: day(12))], at: day(12))
        #expect(Self.words(ended) == ["cancelled pro > revoked free"])
        #expect(ended.events.first?.instant == day(10))
        // The same, where another tier was there before: that one never was so.
        let other = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "basic"), (day(10), .revoked, "free"))
        #expect(
            Self.words(Self.telling(told, other, [Evidence(.refresh, asOf: day(12))], at: day(12)))
                == ["cancelled pro > revoked free (correction)"])
        // It was told that access was back after an end, and it never was.
        var back = Self.telling(told, cancelled, at: day(30)).reported
        let recovered = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(30), .expired, "free"),
            (day(31), .active, "pro"))
        back = Self.telling(back, recovered, [Evidence(.refresh, asOf: day(31))], at: day(31)).reported
        #expect(back.heldSince == day(31))
        #expect(
            Self.words(Self.telling(back, bought, [Evidence(.refresh, asOf: day(32))], at: day(32)))
                == ["active pro > expired free (correction)"])
    }

    @Test("an erased account begins anew, and what it had has ended with that")
    func erased() throws {
        let bought = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(30), .expired, "free"))
        let told = Self.telling(nil, bought, at: day(1)).reported
        let erased = try Self.state((day(5), .free, "free"))
        let ended = Self.telling(told, erased, [Evidence(.staff, asOf: day(5))], at: day(5))
        #expect(Self.words(ended) == ["active pro > free free"])
        #expect(ended.events.first?.instant == day(5))
    }

    @Test(
        "a catalog, and what a client hands in, are told by what they make of the present: from the catalog on, and since the purchase"
    )
    func rewritten() throws {
        let before = try Self.state((.distantPast, .free, "free"))
        let told = Self.telling(nil, before, at: day(1)).reported
        let after = try Self.state(
            (.distantPast, .free, "free"), (day(-90), .trial, "pro"), (day(-60), .expired, "free"),
            (day(-30), .active, "pro"), (day(80), .expired, "free"))
        for (cause, instant) in [(EventCause.catalog, day(2)), (.client, day(-30))] {
            let telling = Self.telling(told, after, [Evidence(cause, asOf: day(2))], at: day(2))
            #expect(Self.words(telling) == ["free free > active pro"])
            #expect(telling.events.first?.instant == instant)
        }
        // Proven a minute ago, in a transaction that took a second; what was told of the time since never was so.
        let proven = try Self.state((.distantPast, .free, "free"), (day(1, seconds: 60), .active, "pro"))
        let late = Self.telling(told, proven, [Evidence(.client, asOf: day(-30))], at: day(1, seconds: 61))
        #expect(late.events.map(\.instant) == [day(1, seconds: 60)])
        let ended = try Self.state((.distantPast, .free, "free"), (day(-5), .trial, "pro"), (day(-1), .expired, "free"))
        let wrong = Self.telling(
            Self.telling(nil, ended, at: day(1)).reported, after, [Evidence(.client, asOf: day(2))], at: day(2))
        #expect(Self.words(wrong) == ["expired free > active pro (correction)"])
        let fill = Self.telling(nil, after, [Evidence(.reconcile, asOf: day(2))], at: day(2), isFill: true)
        #expect(Self.words(fill) == ["- > active pro"])
    }

    @Test("who is behind what was told takes nothing of it back, and the end of it is told when it comes")
    func behind() throws {
        // Staff gave a day of pro while the purchase of basic still waited for a worker.
        let granted = try Self.state(
            (.distantPast, .free, "free"), (day(1, seconds: 2), .active, "pro"), (day(2), .expired, "free"))
        let told = Self.telling(
            nil, granted, [Evidence(.staff, asOf: day(1, seconds: 2))], at: day(1, seconds: 2)
        ).reported
        let bought = try Self.state(
            (.distantPast, .free, "free"), (day(1), .active, "basic"), (day(1, seconds: 2), .active, "pro"),
            (day(2), .active, "basic"), (day(31), .expired, "free"))
        let heard = Evidence(.refresh, asOf: day(1))
        let behind = Self.telling(told, bought, [heard], at: day(1, seconds: 1))
        #expect(behind.events.isEmpty)
        #expect(behind.reported.value.tier == "pro" && behind.reported.nextDue(bought) == day(2))
        #expect(Self.words(Self.telling(behind.reported, bought, at: day(3))) == ["active pro > active basic"])
    }

    @Test("what had come to be and was not told is told before a purchase that somebody proves")
    func dueBeforeProof() throws {
        let granted = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(1), .expired, "free"))
        let told = Self.telling(nil, granted, at: day(0)).reported
        let due = told.nextDue(granted)
        #expect(due == day(1))
        let bought = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(1), .expired, "free"),
            (day(2), .active, "pro"), (day(32), .expired, "free"))
        let telling = Self.telling(
            told, bought, [Evidence(.client, asOf: day(2))], due: due, at: day(2, seconds: 3))
        #expect(Self.words(telling) == ["active pro > expired free", "expired free > active pro"])
        #expect(telling.events.map(\.instant) == [day(1), day(2)])
        #expect(telling.events.map(\.cause) == [.clock, .client])
        // Where it was proven to have had it all along, there was no end.
        let always = try Self.state(
            (.distantPast, .free, "free"), (day(-9), .active, "pro"), (day(32), .expired, "free"))
        #expect(
            Self.telling(told, always, [Evidence(.client, asOf: day(-9))], due: due, at: day(2)).events.isEmpty)
    }

    @Test("another catalog is told as that, and what was heard beside it as what it is")
    func catalogAndNews() throws {
        let before = try Self.state((.distantPast, .free, "free"), (day(0), .active, "basic"))
        let told = Self.telling(nil, before, at: day(1)).reported
        let after = try Self.state(
            (.distantPast, .free, "free"), (day(0), .active, "pro"), (day(5), .revoked, "free"))
        let telling = Self.telling(
            told, after, [Evidence(.refresh, asOf: day(5))], isOtherCatalog: true, at: day(5, seconds: 2))
        #expect(Self.words(telling) == ["active basic > active pro", "active pro > revoked free"])
        #expect(telling.events.map(\.cause) == [.catalog, .refresh])
        #expect(telling.events.last?.instant == day(5))
        let alone = Self.telling(told, after, isOtherCatalog: true, at: day(6))
        #expect(Self.words(alone) == ["active basic > revoked free"] && alone.events.first?.cause == .catalog)
    }

    @Test("whatever becomes of an account, folding its events gives its status")
    func folded() throws {
        var generator = TestSupport.SeededGenerator()
        for _ in 0..<3000 {
            var told: LastReportedAccount?
            var last = (status: AccountStatus.free, tier: "free")
            var now = day(0)
            var state = try Self.random(using: &generator)
            for _ in 0..<12 {
                now = now.adding(days: .random(in: 0..<20, using: &generator))
                var evidence: [Evidence] = []
                if Bool.random(using: &generator) {
                    state = try Self.random(using: &generator)
                    let cause = [EventCause.refresh, .staff, .catalog, .client].randomElement(using: &generator)
                    evidence = [Evidence(cause ?? .staff, asOf: now)]
                }
                // Who is at it may be behind who was before.
                let instant =
                    Bool.random(using: &generator) ? now : now.adding(days: -.random(in: 0..<9, using: &generator))
                let reached = max(instant, told?.since ?? instant)
                let telling = Self.telling(told, state, evidence, at: instant)
                for event in telling.events {
                    guard case .account(let value, let previous) = event.subject else { continue }
                    #expect(previous.map { ($0.status, $0.tier) == last } ?? (last.status == .free))
                    #expect((value.status, value.tier) != last)
                    last = (value.status, value.tier)
                }
                let value = state.value(at: reached)
                #expect(last == (value.status, value.tier), "seed \(generator.seed)")
                #expect(telling.reported.nextDue(state).map { $0 > reached } ?? true)
                told = telling.reported
            }
        }
    }

    /// It begins with nothing, since that is what is told of an account that is not known.
    private static func random(using generator: inout TestSupport.SeededGenerator) throws -> AccountState {
        var phases: [(Timestamp, AccountStatus, String)] = [(.distantPast, .free, "free")]
        var start = day(.random(in: -40..<40, using: &generator))
        for _ in 0..<Int.random(in: 0..<6, using: &generator) {
            let status = AccountStatus.allCases.randomElement(using: &generator) ?? .active
            let tier = ["pro", "premium"].randomElement(using: &generator) ?? "pro"
            phases.append((start, status, status.access ? tier : "free"))
            start = start.adding(days: .random(in: 1..<40, using: &generator))
        }
        return try state(phases)
    }
}
