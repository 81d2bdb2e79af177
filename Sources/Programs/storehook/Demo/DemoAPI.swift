import AppStorePayloads
import Base
import Foundation
import HTTPKit

/// The account API of a demonstration, as its customer's app asks it.
struct DemoAPI: Sendable {
    /// An answer.
    struct Answer: Sendable {
        var status: Int
        var body: JSONValue
    }

    /// Where it is.
    let url: String
    private let token: String
    private let environment: Base.Environment

    /// How the account is asked for.
    var path: String { path("/v1/account") }

    /// The one at a URL, or the first port that `deploy/run` would take where this token is taken.
    /// - Throws: `CommandFailure` saying what was found instead.
    static func find(_ url: String?, token: String, in environment: Base.Environment) async throws -> DemoAPI {
        if let url { return try await find(among: [url], isGuess: false, url, token: token, in: environment) }
        return try await find(
            among: (8081...8089).map { "http://127.0.0.1:\($0)" }, isGuess: true, "127.0.0.1, ports 8081 to 8089",
            token: token,
            in: environment)
    }

    /// The first of some URLs where this token is taken.
    /// - Parameters:
    ///   - isGuess: whether other programs may be there. They see no token.
    ///   - place: all of them, for people.
    static func find(
        among urls: [String], isGuess: Bool, _ place: String, token: String, in environment: Base.Environment
    ) async throws -> DemoAPI {
        var refusal: String?
        for url in urls {
            var base = url
            while base.hasSuffix("/") { base.removeLast() }
            let api = DemoAPI(url: base, token: token, environment: environment)
            if isGuess, await !api.isAccountAPI() { continue }
            guard let answer = await api.answer(to: api.path) else { continue }
            switch answer.status {
            case 200: return api
            case 401:
                refusal =
                    refusal ?? "the account API at \(base) does not take tokens of this key: has it other settings?"
            case 403 where answer.body["code"]?.asText != nil:
                throw CommandFailure(
                    "the account API at \(base) answers about \(environment.rawValue) to testers alone: start it with "
                        + "STOREHOOK_SANDBOX_ACCESS=all, or name an account of STOREHOOK_TESTERS by --account")
            default:
                let text = answer.body.text.prefix(200)
                refusal = refusal ?? "GET \(api.path) of \(base) is answered \(answer.status): \(text)"
            }
        }
        throw CommandFailure(
            refusal ?? "no account API answers at \(place): start storehook serve, or name it by --api")
    }

    /// What the account has.
    /// - Throws: `CommandFailure` where it does not answer, or not with 200.
    func account() async throws -> Answer { try await ask("/v1/account") }

    /// Whether the catalog knows a product, so that buying it gives something.
    /// - Throws: as ``account()``.
    func sells(_ product: String) async throws -> Bool {
        try await ask("/v1/products").body["products"]?.asList.contains { $0["productId"]?.asText == product } ?? false
    }

    private func path(_ path: String) -> String {
        environment == .production ? path : "\(path)?environment=\(environment.rawValue)"
    }

    private func ask(_ what: String) async throws -> Answer {
        guard let answer = await answer(to: path(what)) else {
            throw CommandFailure("the account API at \(url) does not answer")
        }
        guard answer.status == 200 else {
            throw CommandFailure(
                "GET \(path(what)) of \(url) is answered \(answer.status): \(answer.body.text.prefix(200))")
        }
        return answer
    }

    /// Whether it describes itself as storehook's.
    private func isAccountAPI() async -> Bool {
        let answer = await answer(to: "/openapi.json", isProving: false)
        return answer?.status == 200 && answer?.body["info"]?["title"]?.asText == "storehook account API"
    }

    private func answer(to path: String, isProving: Bool = true) async -> Answer? {
        var request = OutboundRequest(
            "GET", url + path, headers: isProving ? [("Authorization", "Bearer \(token)")] : [])
        request.answerBody = .whole(upTo: 1 << 20)
        let limits = OutboundClient.Limits(connect: .seconds(1), total: .seconds(10))
        guard let answer = try? await OutboundClient.send(request, limits: limits) else { return nil }
        return Answer(
            status: answer.status, body: (try? JSONDocument(answer.body)).map { JSONValue($0.root) } ?? .null)
    }
}
