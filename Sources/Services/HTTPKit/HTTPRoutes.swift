public import HTTPTypes
public import Hummingbird
import Synchronization

/// The routes of one port: Hummingbird's router, with an answer for every path and method that it does not serve.
public struct HTTPRoutes {
    /// Answers one method of one path; may throw an ``HTTPProblem``.
    public typealias Answer = @Sendable (Request, HTTPContext) async throws -> Response
    /// Stands around all answers of a port: sees every request, and whatever it was answered or thrown.
    public typealias Frame =
        @Sendable (Request, HTTPContext, _ next: (Request, HTTPContext) async throws -> Response) async throws ->
        Response

    /// What an ``HTTPServer`` takes.
    public let router: Router<HTTPContext>

    private let refusals = Refusals()

    private static let methods: [HTTPRequest.Method] = [
        .get, .head, .post, .put, .patch, .delete, .options, .connect, .trace,
    ]

    /// No routes yet.
    /// - Parameters:
    ///   - elsewhere: what is answered, with 404, where nothing is served.
    ///   - frame: stands around all answers, those to what is not served included; nil for none.
    public init(elsewhere: String, within frame: Frame? = nil) {
        router = Router(context: HTTPContext.self)
        if let frame { router.add(middleware: Framing(frame: frame)) }
        router.add(middleware: ServedPaths(elsewhere: HTTPProblem(.notFound, elsewhere), refusals: refusals))
    }

    /// Serves a path, once: what each method answers. GET answers HEAD as well; other methods are answered 405, with those
    /// that are meant.
    public func serve(_ path: RouterPath, _ answers: [HTTPRequest.Method: Answer]) {
        var answers = answers
        if let get = answers[.get], answers[.head] == nil {
            answers[.head] = { try await get($0, $1).createHeadResponse() }
        }
        let allowed = Self.methods.filter { answers[$0] != nil }.map(\.rawValue).joined(separator: ", ")
        let refusal = HTTPProblem(.methodNotAllowed, "\(allowed) only", [.allow: allowed])
        for method in Self.methods {
            router.on(path, method: method, use: answers[method] ?? { _, _ in throw refusal })
        }
        refusals.all.withLock { $0.append((path, refusal)) }
    }

    /// Serves `/healthz`: the process lives. Asks nothing and nobody.
    public func serveHealth() {
        serve("/healthz", [.get: { _, _ in Response(status: .ok) }])
    }
}

/// What each path says to methods that it does not take. The router has to be told every method by its name, and there are
/// more of them than anybody has heard of (RFC 9110, section 16.1): those end here.
private final class Refusals: Sendable {
    let all = Mutex<[(path: RouterPath, problem: HTTPProblem)]>([])

    /// That of the path, where it is served.
    func refusal(of path: String) -> HTTPProblem? {
        let parts = path.split(separator: "/")
        return all.withLock { all in
            // A path by its own name comes before one that takes any.
            let fitting = all.filter { served in
                served.path.components.count == parts.count
                    && zip(served.path.components, parts).allSatisfy { $0 ~= $1 }
            }
            return (fitting.first { $0.path.description == path } ?? fitting.first)?.problem
        }
    }
}

/// Calls the frame.
private struct Framing: RouterMiddleware {
    typealias Context = HTTPContext

    let frame: HTTPRoutes.Frame

    func handle(
        _ request: Request, context: HTTPContext,
        next: (Request, HTTPContext) async throws -> Response
    ) async throws -> Response {
        try await frame(request, context, next)
    }
}

/// Holds a port to the paths that it serves. To the router `/a/b/` and `//a//b` are `/a/b`; what stands in front of us
/// may think otherwise, and let somebody through to a path that it meant to keep to itself.
private struct ServedPaths: RouterMiddleware {
    typealias Context = HTTPContext

    let elsewhere: HTTPProblem
    let refusals: Refusals

    func handle(
        _ request: Request, context: HTTPContext,
        next: (Request, HTTPContext) async throws -> Response
    ) async throws -> Response {
        guard isPlain(request.uri.path) else { throw elsewhere }
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            throw refusals.refusal(of: request.uri.path) ?? elsewhere
        }
    }

    /// Whether no part of it is empty.
    private func isPlain(_ path: String) -> Bool {
        var last = UInt8(ascii: " ")
        for byte in path.utf8 {
            if byte == UInt8(ascii: "/"), last == byte { return false }
            last = byte
        }
        return last != UInt8(ascii: "/") || path.utf8.count == 1
    }
}
