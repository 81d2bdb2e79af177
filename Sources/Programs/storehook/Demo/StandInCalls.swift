import AppStorePayloads
import Base
import HTTPKit

/// What a person does in the shop of a stand-in, and what an onlooker asks there.
struct StandInCalls: Sendable {
    /// Where the stand-in is.
    let url: String

    /// Does something. Once begun it is done, also where its caller is cancelled.
    /// - Throws: `CommandFailure` saying what the shop answers, or that it does not.
    @discardableResult
    func post(_ what: String, _ body: JSONValue) async throws -> JSONValue {
        var request = OutboundRequest(
            "POST", "\(url)/stand-in/\(what)", headers: [("Content-Type", "application/json")], body: body.bytes)
        request.answerBody = .whole(upTo: 8 << 20)
        let asked = request
        return try await Task { try await answer(to: asked, what) }.value
    }

    /// Asks something.
    /// - Throws: as ``post(_:_:)``.
    func get(_ what: String) async throws -> JSONValue {
        var request = OutboundRequest("GET", "\(url)/stand-in/\(what)")
        request.answerBody = .whole(upTo: 8 << 20)
        return try await answer(to: request, what)
    }

    private func answer(to request: OutboundRequest, _ what: String) async throws -> JSONValue {
        guard let answer = try? await OutboundClient.send(request) else { throw trouble("does not answer") }
        guard answer.status == 200, let document = try? JSONDocument(answer.body) else {
            let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
            throw trouble("answers \(answer.status) to \(what): \(text)")
        }
        return JSONValue(document.root)
    }

    func trouble(_ what: String) -> CommandFailure { CommandFailure("the shop at \(url) \(what)") }
}

extension JSONValue {
    /// The value of a text; nil for anything else.
    var asText: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of a whole number; nil for anything else.
    var asInteger: Int64? { if case .integer(let number) = self { number } else { nil } }

    /// The elements of a list; none for anything else.
    var asList: [JSONValue] { if case .array(let list) = self { list } else { [] } }
}
