import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import AppleSync
import ArgumentParser
import Base
import EventStore
import EvidenceStore
import Foundation
import Operations
import PurchaseStore
import Staff

struct AppleConsumption: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumption",
        abstract: "Answer a CONSUMPTION_REQUEST by hand, within 12 hours of it.",
        discussion: """
            Only with the customer's consent: without --consented nothing is sent. Apple's rules for the fields are held
            against the answer before it goes out. The request is settled on record, and no worker answers it again; what was
            answered before, or the customer has taken the consent back for, is refused. A transaction just goes out where no
            database is set, or nothing is known of it there.

            Example: storehook apple consumption 7f1de78e-0d4e-4c5e-9d3c-000000000001 --consented --percentage 50000 \\
                --preference decline
            """)

    enum Delivery: String, ExpressibleByArgument, CaseIterable {
        case delivered, outage, other
        case quality = "quality-issue"
        case wrongItem = "wrong-item"

        var status: DeliveryStatus {
            switch self {
            case .delivered: .delivered
            case .quality: .undeliveredQualityIssue
            case .wrongItem: .undeliveredWrongItem
            case .outage: .undeliveredServerOutage
            case .other: .undeliveredOther
            }
        }
    }

    enum Preference: String, ExpressibleByArgument, CaseIterable {
        case decline
        case grantFull = "grant-full"
        case grantProrated = "grant-prorated"

        var value: RefundPreference {
            switch self {
            case .decline: .decline
            case .grantFull: .grantFull
            case .grantProrated: .grantProrated
            }
        }
    }

    @OptionGroup var options: AppleOptions
    @OptionGroup var acting: ActingOptions
    @Argument(help: "The notification's UUID, or the transaction's id.") var id: String
    @Flag(help: "The customer has consented to an answer to Apple.") var consented = false
    @Option(help: "delivered, quality-issue, wrong-item, outage or other.") var delivery = Delivery.delivered
    @Flag(inversion: .prefixedNo, help: "Whether the customer could try it before buying.") var sampleContent = false
    @Option(help: "How much was used, in thousandths of a percent: 100000 is all of it.") var percentage: Int64?
    @Option(help: "decline, grant-full or grant-prorated.") var preference: Preference?
    @Flag(help: "Also where Apple may have an answer already.") var again = false

    func validate() throws {
        guard consented else {
            throw ValidationError("without the customer's consent nothing may be sent; with it, say --consented")
        }
    }

    /// What is answered about, and how.
    private struct Subject {
        var transactionId: String
        var type: ProductType?
        var bundleId: String?
        var environment: Environment?
        var way = Way.unrecorded
    }

    private enum Way {
        /// Nothing is known of it here: it just goes out.
        case unrecorded
        /// The request of this notification is answered on record.
        case request(UUID)
        /// Apple may already have an answer to the request of this notification; it is sent again.
        case again(UUID)
    }

    func run() async throws {
        let settings = try await options.shared.settings()
        let subject = try await self.subject(settings)
        let consumption = ConsumptionAnswer(
            deliveryStatus: delivery.status, sampleContentProvided: sampleContent, consumptionPercentage: percentage,
            refundPreference: preference?.value)
        let information = consumption.informationWithConsent
        if let fault = information.fault(for: subject.type) { throw CommandFailure(fault, status: .usage) }
        guard let request = ServerRequest.consumptionInformation(subject.transactionId, information) else { return }
        let answer = try await AppleAccess.with(
            settings, app: options.app ?? subject.bundleId, in: subject.environment ?? options.place
        ) { client, environment in
            let place: Environment
            switch subject.way {
            case .unrecorded: place = try await client.ask(request, in: environment).environment
            case .request(let notification):
                place = environment ?? .production
                try await Database.with(settings) { pool in
                    let hand = ConsumptionByHand(
                        .recordingEvents(pool), client, by: try acting.actor(for: .answerConsumption))
                    try Self.expectTold(try await hand.send(consumption, about: notification))
                }
            case .again(let notification):
                place = environment ?? .production
                try await Database.with(settings) { pool in
                    let hand = ConsumptionByHand(
                        .recordingEvents(pool), client, by: try acting.actor(for: .answerConsumption))
                    try Self.expectTold(
                        try await hand.sendAgain(
                            consumption, about: notification, transactionID: subject.transactionId, in: place))
                }
            }
            return AppleAnswer(
                accepted: "Apple has the answer about transaction \(subject.transactionId)", from: place)
        }
        try options.show(answer)
    }

    /// - Throws: `CommandFailure` where Apple does not have it, or perhaps not.
    private static func expectTold(_ end: ConsumptionByHand.Outcome) throws {
        switch end {
        case .settled(let settled) where settled.outcome == .answered || settled.outcome == .late: return
        case .settled(let settled):
            throw CommandFailure(
                settled.outcome == .refused
                    ? "Apple refuses it for good: \(settled.why ?? "")"
                    : "it is not known whether Apple has it (\(settled.why ?? "")): no worker sends it again")
        case .notHeld:
            throw CommandFailure(
                "it is settled, a worker has it at this moment, or none has noted it yet: storehook consumption list")
        case .withheld(let reason): throw CommandFailure("it is not sent: \(reason.advice)")
        case .notTaken(let text): throw CommandFailure("Apple has not taken it: \(text)")
        }
    }

    /// The transaction to answer about, and what is known of it.
    /// - Throws: `CommandFailure` where it must not be answered, or not in this way.
    private func subject(_ settings: Settings) async throws -> Subject {
        var subject = try await Self.named(id, settings)
        if case .request = subject.way, !again { return subject }
        guard settings.hasDatabase else {
            guard !again else {
                throw CommandFailure("--again goes by what is on record: set DATABASE_URL", status: .usage)
            }
            return subject
        }
        let transaction = subject.transactionId
        let app = subject.bundleId ?? options.app
        let place = (subject.environment ?? options.place)?.rawValue
        let traces = try await Database.with(settings) { pool in
            try await ConsumptionRequests(pool).traces(of: transaction, app: app, environment: place)
        }
        subject.way = try way(ConsumptionRequestState(traces))
        if let trace = traces.first {
            subject.type = subject.type ?? trace.productType.map(ProductType.init(rawValue:))
            subject.bundleId = trace.scope.bundleID
            subject.environment = Environment(rawValue: trace.scope.environment)
        }
        return subject
    }

    private func way(_ standing: ConsumptionRequestState) throws -> Way {
        switch standing {
        case .unheardOf: return .unrecorded
        case .open(let trace):
            guard let notification = trace.notificationUUID else { return .unrecorded }
            return .request(notification)
        case .unknown(let trace):
            guard let notification = trace.notificationUUID else { return .unrecorded }
            guard again else {
                throw CommandFailure(
                    "it is not sent: Apple may have an answer about it; --again sends it all the same"
                )
            }
            return .again(notification)
        case .withheld(let reason): throw CommandFailure("it is not sent: \(reason.advice)")
        case .settled(let outcome):
            throw CommandFailure(
                "it is not sent: Apple's request is settled as \(outcome.rawValue); see storehook consumption list")
        case .notNoted:
            throw CommandFailure(
                "it is not sent: no worker has noted Apple's request yet; let storehook work run, and say it again")
        case .notAsked:
            throw CommandFailure(
                "it is not sent: no request of Apple's is known here; storehook reconcile fetches what was missed")
        case .ambiguous:
            throw CommandFailure(
                "several apps or environments know this id: say which with --app and --environment", status: .usage)
        }
    }

    /// The transaction that was named, or that a stored request is about: perhaps an older one than the purchase's last.
    private static func named(_ id: String, _ settings: Settings) async throws -> Subject {
        guard let uuid = UUID(uuidString: id) else { return Subject(transactionId: id) }
        let body = try await Database.with(settings) { pool in
            guard let found = try await LedgerReader(pool, policy: try settings.statusPolicy()).notification(uuid)
            else {
                throw CommandFailure("notification \(uuid.uuidString.lowercased()) is not recorded")
            }
            guard found.type == NotificationType.consumptionRequest.rawValue else {
                throw CommandFailure("notification \(uuid.uuidString.lowercased()) is a \(found.type)")
            }
            return try await Outbox(pool).body(of: found.evidence.outboxID, receivedAt: found.evidence.receivedAt)
        }
        guard let jws = try body?.get() else {
            throw CommandFailure("its bytes are gone; name the transaction instead", status: .usage)
        }
        let verifier = Verifier(configuration: try settings.verifier(), clock: WallClock.now)
        let notification = try verifier.verifyNotification(jws, isBackfill: true)
        guard let transaction = notification.transaction else {
            throw CommandFailure("it names no transaction")
        }
        return Subject(
            transactionId: transaction.transactionId, type: transaction.type, bundleId: notification.bundleId,
            environment: notification.environment, way: .request(uuid))
    }
}
