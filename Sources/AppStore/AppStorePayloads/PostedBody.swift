/// What Apple posts: `{"signedPayload":"<compact JWS>"}`.
public enum PostedBody {
    /// Why a body is none of Apple's.
    public enum Refusal: String, Error {
        /// Not a JSON text.
        case notJSON = "the body is not JSON"
        /// A JSON text without it.
        case noSignedPayload = "the body has no text member signedPayload"
        /// A notification of version 1 (App Store Server Notifications V1, responseBody). It is not signed, and the app's shared secret stands
        /// in it.
        case version1 = "notifications of version 1 are not taken: choose version 2 in App Store Connect"
    }

    /// The JWS's bytes as they were signed.
    ///
    /// Only the envelope is judged. A JWS that looks wrong may be a new release's to understand: it is stored like any
    /// other, and what is stored can be replayed.
    public static func signedPayload(in body: [UInt8]) throws(Refusal) -> [UInt8] {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(body)
        } catch {
            throw .notJSON
        }
        guard let jws = document.object?.string("signedPayload"), !jws.isEmpty else {
            throw document.object?.string("notification_type") == nil ? .noSignedPayload : .version1
        }
        return Array(jws.utf8)
    }
}
