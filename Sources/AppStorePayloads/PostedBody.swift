import AppStorePayloads
import NIOCore

/// What Apple posts: `{"signedPayload":"<compact JWS>"}`.
enum PostedBody {
    /// Why a body is none of Apple's.
    enum Refusal: String, Error {
        case notJSON = "the body is not JSON"
        case noSignedPayload = "the body has no text member signedPayload"
    }

    /// The JWS's bytes as they were signed.
    ///
    /// Only the envelope is judged. A JWS that looks wrong may be a new release's to understand: it is stored like any
    /// other, and what is stored can be replayed.
    static func signedPayload(in body: ByteBuffer) throws(Refusal) -> [UInt8] {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(Array(body.readableBytesView))
        } catch {
            throw .notJSON
        }
        guard let jws = document.object?.string("signedPayload"), !jws.isEmpty else { throw .noSignedPayload }
        return Array(jws.utf8)
    }
}
