import AppStorePayloads
import Base
import HTTPKit
import HTTPTypes
import Hummingbird

/// What Apple's posts are answered.
struct AppleRoute: Sendable {
    let configuration: ReceiverConfiguration
    let commit: GroupCommit
    let refused: RefusedSenders
    let oldPosts: OldPosts
    let metrics: ReceiverMetrics

    /// Stores what was posted, answers, and counts the answer.
    func answer(_ request: Request, from peer: NetworkAddress?) async -> Response {
        let sender = configuration.http.trustedProxies.sender(peer: peer, request.headers)?.party
        let (response, outcome) = await store(request, from: sender)
        metrics.received(outcome)
        return response
    }

    /// 200 only once it is committed. What Apple would never send is 400; everything that is not the sender's fault is 503,
    /// so that Apple tries again: a 4xx may make it give up.
    private func store(
        _ request: Request, from sender: NetworkAddress?
    ) async -> (Response, ReceiverMetrics.Outcome) {
        if let sender, let rest = refused.refusal(of: sender) {
            // Before a byte of it is read.
            return (
                HTTPProblem(
                    .serviceUnavailable, "what came from this address did not verify",
                    [.connection: "close", .retryAfter: "\(max(1, rest.components.seconds))"]
                ).response, .refused
            )
        }
        do {
            let body = try await request.wholeBody(upTo: configuration.http.maximumBodySize)
            try await commit.commit(
                PostedBody.signedPayload(in: Array(body.readableBytesView)), from: sender?.description)
            return (Response(status: .ok), .stored)
        } catch let refused as BodyRefusal {
            return switch refused {
            case .tooLarge: (refused.problem.response, .tooLarge)
            case .incomplete: (refused.problem.response, .incomplete)
            case .busy: (refused.problem.response, .full)
            }
        } catch let refused as PostedBody.Refusal {
            if refused == .version1 { oldPosts.saw() }
            return (HTTPProblem(.badRequest, refused.rawValue).response, .malformed)
        } catch GroupCommit.Refusal.full {
            return (unavailable("the receiver is full"), .full)
        } catch GroupCommit.Refusal.stopping {
            return (unavailable("the receiver is stopping"), .stopping)
        } catch {
            return (unavailable("the database is unavailable"), .unavailable)
        }
    }

    private func unavailable(_ why: String) -> Response {
        HTTPProblem(
            .serviceUnavailable, why, [.retryAfter: "\(configuration.retryAfter.components.seconds)"]
        ).response
    }
}
