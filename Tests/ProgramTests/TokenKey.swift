import Foundation

@testable import storehook

/// What `storehook serve` needs, with a key of its own in a directory that lasts as long as `body`.
func withTokenKey<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: ([String: String]) async throws -> T
) async throws -> T {
    let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-serve-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let environment = [
        "STOREHOOK_JWT_KEYS": directory.appending(path: "jwt.json").path,
        "STOREHOOK_JWT_ISSUER": "storehook-demo", "STOREHOOK_JWT_AUDIENCE": "storehook",
    ]
    do {
        _ = try DemoKey.loadOrMake(file: directory.appending(path: "jwt-key.pem").path)
        let value = try await body(environment)
        try? FileManager.default.removeItem(at: directory)
        return value
    } catch {
        try? FileManager.default.removeItem(at: directory)
        throw error
    }
}
