import Figures
import Postgres

extension FigureSum {
    /// Reads `count`, `free`, `unknown` and `amount`; the last is text, since it may have more digits than 64 bits.
    init(_ row: PostgresRow) throws {
        self.init(
            count: try row.decode("count"), free: try row.decode("free"), unknown: try row.decode("unknown"),
            amount: Int128(try row.decode("amount", as: String.self)) ?? 0)
    }
}
