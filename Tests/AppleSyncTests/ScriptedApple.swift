import AppStorePayloads
import AppStoreServerAPI
import Base
import Foundation
import Synchronization

/// Apple's servers as far as they matter here: a notification history, and answers about purchases.
final class ScriptedApple: AppStoreTransport {
    /// A notification in the history.
    struct Listed: Sendable {
        var signedDate: Int64
        var jws: String
    }

    /// A page of the history that was asked for.
    struct Asked: Sendable, Hashable {
        var start: Int64
        var end: Int64
        var token: String?
    }

    /// What Apple was told about a transaction's use, whatever it answered.
    struct Told: Sendable, Hashable {
        var transaction: String
        var body: String
    }

    private struct State {
        var listed: [Listed] = []
        var asked: [Asked] = []
        var paths: [String] = []
        var told: [Told] = []
        var answers: [String: String] = [:]
        var generation = 0
        var refusesProduction = false
        var date: Timestamp?
        var trouble: (@Sendable (Int) throws -> TransportAnswer?)?
    }

    private let state = Mutex(State())
    private let pageSize: Int

    init(pageSize: Int = 20) { self.pageSize = pageSize }

    /// The pages of the history that were asked for and answered.
    var asked: [Asked] { state.withLock(\.asked) }
    /// The paths of all requests.
    var paths: [String] { state.withLock(\.paths) }

    /// What Apple was told about use, in this order.
    var told: [Told] { state.withLock(\.told) }

    /// What the history lists from now on.
    func list(_ listed: [Listed]) {
        state.withLock { $0.listed = listed.sorted { ($0.signedDate, $0.jws) < ($1.signedDate, $1.jws) } }
    }

    /// What is answered to a path that begins so, a JSON text.
    func answer(_ path: String, with text: String) { state.withLock { $0.answers[path] = text } }

    /// Lets requests go wrong: asked with their number, from 1 on; nil is an answer as ever.
    func interfere(_ trouble: (@Sendable (Int) throws -> TransportAnswer?)?) { state.withLock { $0.trouble = trouble } }

    /// Whether Production refuses the key without a word, as it does where the app was never released.
    func refuseProduction(_ refuses: Bool = true) { state.withLock { $0.refusesProduction = refuses } }

    /// The time by Apple's clock, to be told with each page of the history; nil: it is not told.
    func tell(_ date: Timestamp?) { state.withLock { $0.date = date } }

    /// From now on tokens handed out before are good no more.
    func expireTokens() { state.withLock { $0.generation += 1 } }

    private static let consumption = "/inApps/v2/transactions/consumption/"

    /// An error of Apple's.
    static func code(_ code: Int64) -> TransportAnswer {
        TransportAnswer(status: Int(code / 10_000), body: Array(#"{"errorCode":\#(code),"errorMessage":"…"}"#.utf8))
    }

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        let path = String(request.url.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
        let (number, trouble) = state.withLock { state in
            state.paths.append(path)
            if request.method == .put, path.hasPrefix(Self.consumption) {
                state.told.append(
                    Told(
                        transaction: String(path.dropFirst(Self.consumption.count)),
                        body: String(decoding: request.body ?? [], as: UTF8.self)))
            }
            return (state.paths.count, state.trouble)
        }
        if let answer = try trouble?(number) { return answer }
        if state.withLock(\.refusesProduction), !request.url.contains("storekit-sandbox") {
            return TransportAnswer(status: 401)
        }
        if path.hasPrefix("/inApps/v1/notifications/history") { return history(request) }
        if path.hasPrefix(Self.consumption) { return TransportAnswer(status: 202) }
        return state.withLock { state in
            let known = state.answers.filter { path.hasPrefix($0.key) }.max { $0.key.count < $1.key.count }
            guard let known else { return Self.code(4_040_010) }
            return TransportAnswer(status: 200, body: Array(known.value.utf8))
        }
    }

    private static func httpDate(_ instant: Timestamp) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSince1970: Double(instant.millisecondsSince1970) / 1000))
    }

    private struct Span: Decodable {
        var startDate: Int64
        var endDate: Int64
    }

    private func history(_ request: TransportRequest) -> TransportAnswer {
        guard let span = try? JSONDecoder().decode(Span.self, from: Data(request.body ?? [])) else {
            return Self.code(4_000_000)
        }
        let token = URLComponents(string: request.url)?.queryItems?.first { $0.name == "paginationToken" }?.value
        return state.withLock { state in
            let parts = token?.split(separator: ".").compactMap { Int($0) } ?? [state.generation, 0]
            guard parts.count == 2, parts[0] == state.generation else { return Self.code(4_000_017) }
            state.asked.append(Asked(start: span.startDate, end: span.endDate, token: token))
            let fitting =
                request.url.contains("storekit-sandbox")
                ? [] : state.listed.filter { ($0.signedDate >= span.startDate && $0.signedDate <= span.endDate) }
            let page = fitting.dropFirst(parts[1]).prefix(pageSize)
            let next = parts[1] + page.count
            let items = page.map { #"{"signedPayload":"\#($0.jws)","sendAttempts":[]}"# }.joined(separator: ",")
            let more = next < fitting.count ? #","paginationToken":"\#(state.generation).\#(next)""# : ""
            return TransportAnswer(
                status: 200, date: state.date.map(Self.httpDate),
                body: Array(
                    #"{"notificationHistory":[\#(items)],"hasMore":\#(next < fitting.count)\#(more)}"#.utf8))
        }
    }
}

/// A clock for the client that never waits, and tells the time.
struct ImpatientClock: AppStoreClock {
    func now() -> Timestamp { Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000)) }

    func wait(until instant: Timestamp) async throws { try Task.checkCancellation() }
}
