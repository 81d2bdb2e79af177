import JWTKit

/// What a demonstration's token says.
struct DemoClaims: JWTPayload {
    var sub: String
    var iss: String
    var aud: String
    var iat: Int64
    var exp: Int64
    var role: String?

    /// Never called: these are signed here, and checked by the account API.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}
