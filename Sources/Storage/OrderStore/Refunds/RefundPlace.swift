import Postgres

/// The transaction that a request is about.
struct RefundPlace: Sendable, Hashable {
    var orderID: Int64
    var item: String
    var bundleID: String

    init(_ row: PostgresRow) throws {
        orderID = try row.decode("order_id")
        item = try row.decode("item")
        bundleID = try row.decode("bundle_id")
    }
}
