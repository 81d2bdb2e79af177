import ArgumentParser
import Base

extension Environment {
    /// Reads Apple's name of an environment, in any case.
    /// - Throws: `ValidationError` for any other word.
    static func argument(_ text: String) throws -> Environment {
        try argument(text, among: [.production, .sandbox, .xcode, .localTesting])
    }

    /// Likewise, where Apple has a server.
    static func served(_ text: String) throws -> Environment { try argument(text, among: [.production, .sandbox]) }

    private static func argument(_ text: String, among all: [Environment]) throws -> Environment {
        guard let named = all.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
            throw ValidationError("it is one of \(all.map(\.rawValue).joined(separator: ", "))")
        }
        return named
    }
}
