/// Whole HTTP/1.1 requests, as they go over the wire.
enum LoadRequest {
    /// A post to the receiver.
    static func post(_ jws: [UInt8]) -> [UInt8] {
        let opening = Array(#"{"signedPayload":""#.utf8)
        let closing = Array(#""}"#.utf8)
        let head = """
            POST /webhooks/apple HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: \(opening.count + jws.count + closing.count)\r
            \r

            """
        return Array(head.utf8) + opening + jws + closing
    }

    /// What a request made here carries.
    static func body(of request: [UInt8]) -> ArraySlice<UInt8> {
        guard let brace = request.firstIndex(of: UInt8(ascii: "{")) else { return [] }
        return request[brace...]
    }

    /// What a receiver answers without storing anything.
    static let alive = Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
}
