/// A record in an answer of Apple's: the bytes that Apple signed, and what they say. It exists only once it is verified.
public struct SignedRecord<Payload: Sendable>: Sendable {
    /// The compact JWS.
    public let jws: String
    /// What it says.
    public let payload: Payload

    init(jws: String, payload: Payload) {
        self.jws = jws
        self.payload = payload
    }
}

extension SignedRecord: Hashable, Equatable where Payload: Hashable {}
