public import HTTPTypes
public import Hummingbird
import Synchronization

/// The routes of one port: Hummingbird's router, with an answer for every path and method that it does not serve.
public struct HTTPRoutes {
    /// Answers one method of one path; may throw an ``HTTPProblem``.
    public typealias Answer = @Sendable (Request, HTTPContext) async throws -> Response
    /// Wraps all answers of a port: sees every request, and its answer or error.
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
    ///   - elsewhere: the detail of the 404 for paths that are not served.
    ///   - frame: wraps all answers, the 404s included; nil for none.
    public init(elsewhere: String, within frame: Frame? = nil) {
        router = Router(context: HTTPContext.self)
        if let frame { router.add(middleware: Framing(frame: frame)) }
        router.add(middleware: ServedPaths(elsewhere: HTTPProblem(.notFound, elsewhere), refusals: refusals))
    }

    /// Serves a path, once, with an answer for each method. GET also answers HEAD; other methods are answered 405 with
    /// the allowed ones.
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

    /// Serves `/healthz`: the process runs. It checks nothing else.
    public func serveHealth() {
        serve("/healthz", [.get: { _, _ in Response(status: .ok) }])
    }
}

/// The refusal of each path for methods that it does not serve. The router must be given every method by name, and the
/// list is open (RFC 9110, section 16.1): unknown ones end here.
private final class Refusals: Sendable {
    let all = Mutex<[(path: RouterPath, problem: HTTPProblem)]>([])

    /// The path's refusal, where it is served.
    func refusal(of path: String) -> HTTPProblem? {
        let parts = path.split(separator: "/")
        return all.withLock { all in
            // A literal path comes before a pattern.
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

/// Limits a port to the paths that it serves. For the router `/a/b/` and `//a//b` are `/a/b`; a proxy in front may
/// think otherwise, and let a client through to a path that it means to protect.
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
