import Base
import HTTPKit

/// Fetches a JWK set, within a time and up to a length. The URL is the operator's.
enum TokenKeyFetch {
    /// Until the whole answer is there.
    private static let limits = OutboundClient.Limits(total: .seconds(5))

    static func bytes(of url: String) async throws(TokenKeySet.Fault) -> [UInt8] {
        var request = OutboundRequest(
            "GET", url,
            headers: [
                ("Accept", "application/jwk-set+json, application/json"), ("User-Agent", Release.userAgent),
            ])
        request.answerBody = .whole(upTo: 1 << 20)
        let answer: OutboundAnswer
        do {
            // Once in minutes: a connection that is kept would be found broken each time.
            answer = try await OutboundClient.send(request, limits: limits)
        } catch .timeout {
            throw TokenKeySet.Fault(description: "did not answer in time")
        } catch .tooLong {
            throw TokenKeySet.Fault(description: "answers with more than 1 MiB")
        } catch {
            throw TokenKeySet.Fault(description: "cannot be reached")
        }
        guard answer.status == 200 else {
            throw TokenKeySet.Fault(description: "was answered with status \(answer.status)")
        }
        return answer.body
    }
}
