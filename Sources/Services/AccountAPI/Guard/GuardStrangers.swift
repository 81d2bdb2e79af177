import Accounts
import Base
import Logging
import Synchronization

/// The names that a guard was asked about and that no catalog has: a proxy with one of them lets no caller in, and its callers see a 403
/// like any other. One line in the log for each name, once in the life of the process.
final class GuardStrangers: Sendable {
    private struct Name: Hashable {
        let isTier: Bool
        let text: String
    }

    /// A caller that reaches the guard by itself may ask for any name: from here on no more are written.
    static let most = 50

    private let written = Mutex<Set<Name>>([])
    private let logger: Logger

    /// None yet.
    init(_ logger: Logger) { self.logger = logger }

    /// Writes a line where a refusal is about a name that the catalog lacks, and that has no line yet.
    func note(_ refusal: AccessRefusal, tier: String?, feature: String?) {
        switch refusal {
        case .unknownTier: tier.map { note(Name(isTier: true, text: $0)) }
        case .unknownFeature: feature.map { note(Name(isTier: false, text: $0)) }
        case .noAccess, .tierRequired, .featureNotIncluded: break
        }
    }

    private func note(_ name: Name) {
        // Texts that are made as no id, in either letter case, are one: they do not stand in the log.
        let isID = SchemaWord.id.accepts(name.text.lowercased())
        let name = isID ? name : Name(isTier: name.isTier, text: "(no id)")
        guard written.withLock({ $0.count < Self.most && $0.insert(name).inserted }) else { return }
        let kind = name.isTier ? "tier" : "feature"
        logger.warning(
            "The guard refuses every caller that needs this \(kind): the catalog has none with that id. Correct it in the proxy's URL of the guard, or apply a catalog that has it",
            metadata: ["\(kind)": "\(name.text)"])
    }
}
