import APIKit
import AccountStore
import AdminAPI
import AppStorePayloads
import Base
import Foundation
import HTTPTypes
import Staff
import Synchronization

/// A request to a page, as the page sees it. All that it shows it asks the admin API, as a program would.
struct PageCall: Sendable {
    /// The values of the path's parts in braces, decoded.
    let path: [String: String]
    /// The query's values.
    let query: [String: String]
    /// What the form has sent; empty for a page to look at.
    let form: [String: String]
    /// The caller; nil where it is not logged in.
    let visitor: Visitor?
    /// How values are written for the reader.
    let speaker: Speaker
    /// What the request says of its caller.
    let evidence: CallerEvidence
    /// The sender's address; nil where only proxies are known.
    let sender: NetworkAddress?
    /// The admin API.
    let desk: EndpointCaller<AdminAccess>
    /// What was asked so far.
    let record = CallRecord()

    // MARK: What was sent

    /// A value of the query; nil where it is missing or empty.
    func value(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A value of the form, without white space around it; nil where it is missing or empty.
    func sent(_ name: String) -> String? {
        let text = form[name]?.trimmingCharacters(in: .whitespacesAndNewlines)
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A part of the path.
    func part(_ name: String) -> String { path[name] ?? "" }

    /// Values of the query by these names, for a list that goes on and for its file.
    func kept(_ names: [String]) -> [String: String?] {
        Dictionary(names.map { ($0, value($0)) }) { first, _ in first }
    }

    /// The member who asks.
    var member: StaffMember {
        get throws(APIProblem) {
            guard let visitor else { throw APIProblem(.tokenMissing, "nobody is logged in") }
            return visitor.member
        }
    }

    /// Whether the member's role may do something. Whether it may be done here, the admin API decides. On a page of the past nothing is done: its
    /// texts may be opened.
    func may(_ task: StaffTask) -> Bool {
        guard speaker.instant == nil || task == .openPersonalText, let member = visitor?.member else { return false }
        return member.role >= StaffRules.rule(for: task.kind).role
    }

    // MARK: What is asked

    /// Asks the admin API, on record for the foot of the page.
    /// - Parameter isEverywhere: whether the environment that the page shows does not narrow the answer down.
    func ask(
        _ endpoint: String, path: [String: String] = [:], _ query: [String: String?] = [:], isEverywhere: Bool = false
    ) async throws -> JSONObject {
        let call = call(endpoint, path, query, isEverywhere)
        if let text = desk.text(of: call) {
            let time: CallRecord.Time = call.query["at"] == nil ? .now : .then
            record.note(text, Self.timeless.contains(endpoint) ? nil : time)
        }
        return try await desk.object(call, as: member)
    }

    /// The same where an answer of 404 means that there is nothing.
    func find(
        _ endpoint: String, path: [String: String] = [:], _ query: [String: String?] = [:]
    ) async throws -> JSONObject? {
        do {
            return try await ask(endpoint, path: path, query)
        } catch let problem as APIProblem where problem.code.status == .notFound {
            return nil
        }
    }

    /// Has the admin API do something.
    func send(
        _ endpoint: String, path: [String: String] = [:], _ members: [String: JSONValue?]
    ) async throws -> JSONObject {
        let body = members.sorted { $0.key < $1.key }.compactMap { name, value in
            value.map { JSONValue.Member(name, $0) }
        }
        let call = EndpointCall(endpoint, path: path, body: .object(body))
        if let text = desk.text(of: call) { record.note(text, nil) }
        return try await desk.object(call, as: member)
    }

    /// A list as a file, as the admin API writes it.
    func file(
        _ endpoint: String, path: [String: String] = [:], _ query: [String: String?], isEverywhere: Bool = false
    ) async throws -> PageOutcome {
        var call = call(endpoint, path, query, isEverywhere)
        call.query["format"] = "csv"
        return .file(try await desk.answer(call, as: member))
    }

    /// What the staff keeps for itself: a page of the past shows it as it is.
    private static let timeless: Set = ["listFilters"]

    private func call(
        _ endpoint: String, _ path: [String: String], _ query: [String: String?], _ isEverywhere: Bool
    ) -> EndpointCall {
        var values = query.compactMapValues { $0 }
        if !isEverywhere, values["environment"] == nil, desk.takes("environment", in: endpoint) {
            values["environment"] = speaker.environment
        }
        if let instant = speaker.instant, desk.takes("at", in: endpoint) { values["at"] = instant.description }
        return EndpointCall(endpoint, path: path, query: values)
    }
}

/// What a page has asked, for its foot.
final class CallRecord: Sendable {
    /// What an answer is of.
    enum Time: Sendable, Hashable {
        /// What is.
        case now
        /// What was at the instant that the page shows.
        case then
    }

    private struct State {
        var calls: [String] = []
        var times: Set<Time> = []
    }

    private let state = Mutex(State())

    /// Notes a call.
    /// - Parameter time: what its answer is of; nil where that does not matter.
    func note(_ call: String, _ time: Time?) {
        state.withLock { state in
            if !state.calls.contains(call) { state.calls.append(call) }
            if let time { state.times.insert(time) }
        }
    }

    /// The calls, in their order.
    var calls: [String] { state.withLock(\.calls) }
    /// What their answers are of.
    var times: Set<Time> { state.withLock(\.times) }
}
