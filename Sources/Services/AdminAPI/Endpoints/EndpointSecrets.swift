import APIKit
import Base
package import EventStore

/// Whether endpoints get new secrets from the console. All else it does without the key that these are encrypted with.
package enum EndpointSecrets: Sendable {
    /// It has the key.
    case made(SecretKey)
    /// Its settings name none.
    case noKey
    /// They name one that it cannot use: its log says why.
    case unusableKey

    /// As the settings have it.
    /// - Parameters:
    ///   - key: the key, if there is one that can be used.
    ///   - isNamed: whether the settings name one, if there is not.
    package init(_ key: SecretKey?, isNamed: Bool = false) {
        self = key.map(EndpointSecrets.made) ?? (isNamed ? .unusableKey : .noKey)
    }

    static let words = ValueSchema.choice(["made", "no_key", "unusable_key"])

    var word: String {
        switch self {
        case .made: "made"
        case .noKey: "no_key"
        case .unusableKey: "unusable_key"
        }
    }

    /// The key.
    /// - Throws: ``APIProblem``, 409, without one.
    func key(toRotate endpoint: Int64) throws(APIProblem) -> SecretKey {
        let why: String
        switch self {
        case .made(let key): return key
        case .noKey: why = "STOREHOOK_SECRET_KEY_FILE is not set for the console"
        case .unusableKey:
            why = "the console cannot use the file that its STOREHOOK_SECRET_KEY_FILE names, and its log says why"
        }
        throw APIProblem(
            .noSecretKey, ProblemText(english: "\(why): storehook endpoints rotate \(endpoint) does it"))
    }
}
