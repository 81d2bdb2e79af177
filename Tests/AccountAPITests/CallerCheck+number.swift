import AccountStore
import HTTPTypes

@testable import APIKit
@testable import AccountAPI

extension CallerCheck {
    /// The number of a server key; nil where it is a token's.
    func number(of key: ServerKey) async throws -> Int64? {
        guard case .server(let number, _) = try await identity([.authorization: "Bearer \(key.text)"]) else {
            return nil
        }
        return number
    }
}
