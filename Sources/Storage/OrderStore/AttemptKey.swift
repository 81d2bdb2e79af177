import Base
import Foundation
import Postgres

/// What reports of one attempt have in common.
struct AttemptKey: Sendable, Hashable {
    /// The account.
    var token: UniqueIdentifier
    /// The product, as the app wrote it.
    var productID: String
    /// Apple's name of the environment; Production where the app named none.
    var environment: String

    init(_ row: PostgresRow) throws {
        token = UniqueIdentifier(try row.decode("token", as: UUID.self))
        productID = try row.decode("product_id")
        environment = try row.decode("environment")
    }
}
