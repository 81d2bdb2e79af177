public import Foundation

/// A cache in a file. May be used from any thread.
public struct FileStatusCache: StatusCache {
    private let url: URL

    /// - Parameter url: the file, of this cache alone; its folder is made where it is missing.
    public init(url: URL) { self.url = url }

    /// What the file holds; nil where there is none.
    /// - Throws: where there is a file that cannot be read.
    public func load() throws -> Data? {
        do {
            return try Data(contentsOf: url)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        }
    }

    /// Replaces the file at once: a process that ends meanwhile leaves the one before.
    /// - Throws: where it cannot be written.
    public func save(_ data: Data) throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        var options: Data.WritingOptions = .atomic
        #if canImport(Darwin)
            // The app may be started in the background, before the device is unlocked a second time.
            options.insert(.completeFileProtectionUntilFirstUserAuthentication)
        #endif
        try data.write(to: url, options: options)
    }

    /// Removes the file, if there is one.
    /// - Throws: where it cannot be removed.
    public func remove() throws {
        do {
            try FileManager.default.removeItem(at: url)
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            // There is nothing to remove.
        }
    }
}
