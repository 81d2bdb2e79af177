import AppleRecords
import Base

/// An extension of renewal dates, with what staff wrote in full, or shortened.
struct ShownRenewalExtension: Sendable {
    /// The extension.
    let record: RenewalExtension
    /// Whether texts are shown in full.
    let isOpen: Bool
    /// The subscriptions that Apple has named as not extended.
    let failures: [ExtensionFailure]

    init(_ record: RenewalExtension, isOpen: Bool = false, failures: [ExtensionFailure] = []) {
        self.record = record
        self.isOpen = isOpen
        self.failures = failures
    }

    /// A personal text as it is shown.
    func text(_ text: String?) -> String? { text.map { isOpen ? $0 : PersonalText.shortened($0) } }

    /// How many are shown in full.
    var openedTexts: Int64 { isOpen ? Int64([record.why, record.closed?.why].count { $0 != nil }) : 0 }

    /// How far it had come; nil where nothing says it of the instant.
    var state: RenewalExtension.State? { record.isDated ? record.state : nil }

    /// How often Apple was asked again; nil likewise.
    var askedAgain: Int64? { record.isDated ? record.askedAgain : nil }

    /// Of one subscription.
    var originalTransactionID: String? {
        if case .one(let original) = record.subject { original } else { nil }
    }

    /// Of all subscribers of a product.
    var all: (productID: String, storefronts: [String])? {
        if case .all(let product, let countries) = record.subject { (product, countries) } else { nil }
    }
}
