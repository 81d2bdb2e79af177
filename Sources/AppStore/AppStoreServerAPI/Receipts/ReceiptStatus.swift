import AppStorePayloads
public import Base

/// What verifyReceipt says of a receipt (`status`): 0, or why not.
public struct ReceiptStatus: AppleCode {
    /// What the status asks for, where Apple does not say itself whether to ask again.
    public enum Behaviour: Sendable, Hashable {
        /// The receipt is genuine.
        case accept
        /// It will not be otherwise next time.
        case giveUp
        /// It may pass by itself: ask again.
        case retry
        /// The receipt is of this environment: ask there.
        case ask(Environment)
    }

    /// The value as Apple writes it.
    public let rawValue: Int64
    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The receipt is genuine.
    public static let valid = ReceiptStatus(rawValue: 0)
    /// Apple cannot read the receipt, or had trouble.
    public static let malformed = ReceiptStatus(rawValue: 21_002)
    /// The receipt was made in Sandbox.
    public static let sandboxReceipt = ReceiptStatus(rawValue: 21_007)
    /// The receipt was made in Production.
    public static let productionReceipt = ReceiptStatus(rawValue: 21_008)

    /// The values this release knows: all that Apple documents, and the hundred of its internal errors.
    public static let known: Set<ReceiptStatus> = Set(
        (Array(table.keys) + Array(internalErrors)).map(ReceiptStatus.init(rawValue:)))

    /// Apple's servers had trouble reading its own data: each number is a place in them.
    private static let internalErrors: ClosedRange<Int64> = 21_100...21_199

    private struct Entry {
        let name: String
        let behaviour: Behaviour
        let advice: String
    }

    /// By number (App Store Receipts, status). The names are ours, and never change: Apple has none.
    private static let table: [Int64: Entry] = [
        0: Entry(name: "valid", behaviour: .accept, advice: "the receipt is genuine"),
        21_000: Entry(
            name: "receipt_request_not_posted", behaviour: .giveUp,
            advice: "Apple did not take the request for a POST; is something between here and Apple?"),
        21_001: Entry(
            name: "receipt_status_retired", behaviour: .giveUp,
            advice: "Apple says that it no longer sends this; is this Apple?"),
        // Apple: malformed, or the service experienced a temporary issue.
        21_002: Entry(
            name: "receipt_malformed", behaviour: .retry,
            advice: "Apple cannot read the receipt; have the app send it unchanged, in base64, or refresh it"),
        21_003: Entry(
            name: "receipt_not_authentic", behaviour: .giveUp,
            advice: "the receipt is not Apple's, or was changed: it proves nothing"),
        21_004: Entry(
            name: "shared_secret_mismatch", behaviour: .giveUp,
            advice: "the shared secret is not this app's: copy it again from App Store Connect, under App Information"),
        21_005: Entry(
            name: "receipt_server_unavailable", behaviour: .retry, advice: "Apple's receipt server is away; try later"),
        21_006: Entry(
            name: "receipt_subscription_expired", behaviour: .giveUp,
            advice: "a receipt of iOS 6 whose subscription is over: it proves no running purchase"),
        21_007: Entry(
            name: "sandbox_receipt", behaviour: .ask(.sandbox),
            advice: "the receipt was made in Sandbox, and Production was asked"),
        21_008: Entry(
            name: "production_receipt", behaviour: .ask(.production),
            advice: "the receipt was made in Production, and Sandbox was asked"),
        21_009: Entry(
            name: "receipt_internal_error", behaviour: .retry, advice: "Apple has trouble of its own; try later"),
        21_010: Entry(
            name: "receipt_account_not_found", behaviour: .giveUp,
            advice: "the customer's account is not there any more; treat it as if nothing had been bought"),
    ]

    private var entry: Entry? {
        Self.table[rawValue]
            ?? (Self.internalErrors.contains(rawValue)
                ? Entry(
                    name: "receipt_internal_\(rawValue)", behaviour: .retry,
                    advice: "Apple has trouble reading its own data; try later unless it says not to") : nil)
    }

    /// What to do about it by itself. An unknown status is not asked about again.
    public var behaviour: Behaviour { entry?.behaviour ?? .giveUp }

    /// Its name, in lower case; `unknown` for a status of a later day.
    public var name: String { entry?.name ?? "unknown" }

    /// What happened and what to do, for people.
    public var advice: String { entry?.advice ?? "a status that this release does not know" }
}
