import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleSync
import ArgumentParser
import Consumption
import ConsumptionPolicy
import Foundation
import Ledger
import Operations
import Outbox

struct AppleConsumption: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumption",
        abstract: "Answer a CONSUMPTION_REQUEST by hand, within 12 hours of it.",
        discussion: """
            Only with the customer's consent: without --consented nothing is sent. Apple's rules for the fields are held
            against the answer before it goes out. Named by its notification, the request is settled on record, and no worker
            answers it again; what a worker has answered, or the customer has taken the consent back for, is refused. Named by the
            transaction it just goes out.

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
    @Argument(help: "The notification's UUID, or the transaction's id.") var id: String
    @Flag(help: "The customer has consented to tell Apple.") var consented = false
    @Option(help: "delivered, quality-issue, wrong-item, outage or other.") var delivery = Delivery.delivered
    @Flag(inversion: .prefixedNo, help: "Whether the customer could try it before buying.") var sampleContent = false
    @Option(help: "How much was used, in thousandths of a percent: 100000 is all of it.") var percentage: Int64?
    @Option(help: "decline, grant-full or grant-prorated.") var preference: Preference?

    func validate() throws {
        guard consented else {
            throw ValidationError("without the customer's consent nothing may be sent; with it, say --consented")
        }
    }

    /// What is answered about.
    private struct Subject {
        var transactionId: String
        var type: ProductType?
        var bundleId: String?
        var environment: Environment?
    }

    func run() async throws {
        let settings = try await options.shared.settings()
        let subject = try await Self.subject(id, settings)
        let information = ConsumptionInformation(
            customerConsented: consented, deliveryStatus: delivery.status, sampleContentProvided: sampleContent,
            consumptionPercentage: percentage, refundPreference: preference?.value)
        if let fault = information.fault(for: subject.type) { throw CommandFailure(fault, status: .usage) }
        guard let request = ConsumptionInformationRequest(subject.transactionId, information) else { return }
        let named = options.app ?? subject.bundleId
        if let notification = UUID(uuidString: id) {
            let consumption = ConsumptionAnswer(
                deliveryStatus: delivery.status, sampleContentProvided: sampleContent,
                consumptionPercentage: percentage,
                refundPreference: preference?.value)
            let answer = try await AppleAccess.with(settings, app: named, in: subject.environment) {
                client, environment in
                try await Database.with(settings) { pool in
                    let hand = ConsumptionByHand(ConsumptionRequests(pool), client, by: Operator.name)
                    try Self.expectTold(try await hand.tell(consumption, about: notification))
                }
                return AppleAnswer(
                    accepted: "Apple has the answer about transaction \(subject.transactionId)",
                    from: environment ?? .production)
            }
            return try options.show(answer)
        }
        let answer = try await AppleAccess.with(settings, app: named, in: subject.environment ?? options.place) {
            client, environment in
            let answered = try await client.ask(request, in: environment)
            return AppleAnswer(
                accepted: "Apple has the answer about transaction \(subject.transactionId)", from: answered.environment)
        }
        try options.show(answer)
    }

    /// - Throws: `CommandFailure` where Apple does not have it, or perhaps not.
    private static func expectTold(_ end: ConsumptionByHand.End) throws {
        switch end {
        case .settled(let settled) where settled.outcome == .answered || settled.outcome == .late: return
        case .settled(let settled):
            throw CommandFailure(
                settled.outcome == .refused
                    ? "Apple refuses it for good: \(settled.why ?? "")"
                    : "nobody knows whether Apple has it (\(settled.why ?? "")): it is not told twice by itself")
        case .notHeld:
            throw CommandFailure(
                "it is settled, a worker has it at this moment, or none has noted it yet: storehook consumption list")
        case .withheld(let reason): throw CommandFailure("it is not sent: \(reason.advice)")
        case .notTaken(let text): throw CommandFailure("Apple has not taken it: \(text)")
        }
    }

    /// The transaction that a stored request is about: perhaps an older one than the purchase's last.
    private static func subject(_ id: String, _ settings: Settings) async throws -> Subject {
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
            environment: notification.environment)
    }
}
