import Foundation

/// A directory that lasts as long as `body`.
func withTemporaryDirectory<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> T
) async throws -> T {
    let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    do {
        let value = try await body(directory.path)
        try? FileManager.default.removeItem(at: directory)
        return value
    } catch {
        try? FileManager.default.removeItem(at: directory)
        throw error
    }
}
