import AppStorePayloads
import Base
import Foundation

/// The machine's clock, for what no database is asked about.
enum WallClock {
    @Sendable static func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
