import AppStorePayloads
import HTTPTypes
import Hummingbird
import NIOCore
import Outbox

/// The receiver's answers, path by path.
struct ReceiverResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let configuration: ReceiverConfiguration
    let commit: GroupCommit
    /// Whether storing would work now; throws if not.
    let ping: @Sendable () async throws -> Void
    let metrics: ReceiverMetrics
    /// The page for Prometheus.
    let exposition: Receiver.Exposition

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        switch (request.uri.path, request.method) {
        case ("/webhooks/apple", .post): await received(request)
        case ("/webhooks/apple", _): refusal(.methodNotAllowed, "POST only", [.allow: "POST"])
        case ("/healthz", .get), ("/healthz", .head): Response(status: .ok)
        case ("/readyz", .get), ("/readyz", .head): await ready()
        case ("/metrics", .get), ("/metrics", .head): await page()
        case ("/healthz", _), ("/readyz", _), ("/metrics", _):
            refusal(.methodNotAllowed, "GET only", [.allow: "GET, HEAD"])
        default: refusal(.notFound, "nothing here; Apple posts to /webhooks/apple")
        }
    }

    private func received(_ request: Request) async -> Response {
        let (response, outcome) = await store(request)
        metrics.received(outcome)
        return response
    }

    /// 200 only once it is committed. What Apple would never send is 400; everything that is not the sender's fault is 503,
    /// so that Apple tries again: a 4xx may make it give up.
    private func store(_ request: Request) async -> (Response, ReceiverMetrics.Outcome) {
        // Refused by its own word, before a byte of it is read.
        if let length = request.headers[.contentLength].flatMap(Int.init), length > configuration.maximumBodySize {
            return (tooLarge, .tooLarge)
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: configuration.maximumBodySize)
        } catch is NIOTooManyBytesError {
            return (tooLarge, .tooLarge)
        } catch {
            return (refusal(.badRequest, "the body did not arrive whole", [.connection: "close"]), .incomplete)
        }
        do {
            try await commit.commit(PostedBody.signedPayload(in: Array(body.readableBytesView)))
            return (Response(status: .ok), .stored)
        } catch let refused as PostedBody.Refusal {
            return (refusal(.badRequest, refused.rawValue), .malformed)
        } catch GroupCommit.Refusal.full {
            return (unavailable("the receiver is full"), .full)
        } catch GroupCommit.Refusal.stopping {
            return (unavailable("the receiver is stopping"), .stopping)
        } catch {
            return (unavailable("the database is unavailable"), .unavailable)
        }
    }

    private func page() async -> Response {
        let page = await exposition()
        return Response(
            status: .ok, headers: [.contentType: page.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page.text)))
    }

    private func ready() async -> Response {
        do {
            try await ping()
            return Response(status: .ok)
        } catch {
            return unavailable("the database is unavailable")
        }
    }

    private var tooLarge: Response {
        refusal(
            .contentTooLarge, "more than \(configuration.maximumBodySize) bytes; Apple's are under 20000",
            [.connection: "close"])
    }

    private func unavailable(_ why: String) -> Response {
        refusal(.serviceUnavailable, why, [.retryAfter: "\(configuration.retryAfterSeconds)"])
    }

    /// `why` is one of our own sentences: it needs no escaping.
    private func refusal(_ status: HTTPResponse.Status, _ why: String, _ headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        let body = ByteBuffer(string: #"{"error":"\#(why)"}"#)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
