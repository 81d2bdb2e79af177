public import Foundation

/// Keeps bytes on the device from one launch to the next. A cache belongs to one process.
public protocol StatusCache: Sendable {
    /// What was saved last; nil where nothing was, or it was removed.
    func load() throws -> Data?
    /// Saves bytes in place of those before: whole, or not at all.
    func save(_ data: Data) throws
    /// Removes what was saved.
    func remove() throws
}
