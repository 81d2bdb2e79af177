@testable import storehook

/// What `storehook serve` needs, with a key of its own in a directory that lasts as long as `body`.
func withTokenKey<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: ([String: String]) async throws -> T
) async throws -> T {
    try await withTemporaryDirectory { directory in
        _ = try DemoKey.loadOrMake(file: directory + "/jwt-key.pem")
        return try await body([
            "STOREHOOK_JWT_KEYS": directory + "/jwt.json", "STOREHOOK_JWT_ISSUER": "storehook-demo",
            "STOREHOOK_JWT_AUDIENCE": "storehook",
        ])
    }
}
