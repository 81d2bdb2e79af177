import Foundation
import StorehookClient
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The network between a life's app and the account API: it fails by chance, and keeps what the app has heard.
final class LivesNetwork: HTTPTransport, @unchecked Sendable {
    // The lock guards all of `state`.

    /// How well it works.
    enum Weather { case fine, bad, offline }

    private struct State {
        var weather = Weather.fine
        var chance: TestSupport.SeededGenerator
        var heard = LivesHearing()
        var failures = 0
        var answers = 0
    }

    private enum Fault: CaseIterable { case cutBefore, cutAfter, unavailable, unreadable, half }

    private let lock = NSLock()
    private var state: State
    private let clock: ManualClock
    private let transport = URLSessionTransport()

    init(seed: UInt64, clock: ManualClock) {
        state = State(chance: TestSupport.SeededGenerator(seed: seed ^ 0x5EED))
        self.clock = clock
    }

    var weather: Weather {
        get { change { $0.weather } }
        set { change { $0.weather = newValue } }
    }

    /// What the app has heard so far.
    var heard: LivesHearing { change { $0.heard } }

    /// The app has forgotten all of it, as with its cache.
    func forget() { change { $0.heard = LivesHearing() } }

    /// How many calls failed, and how many were answered, since the last time.
    func takeCounts() -> (failures: Int, answers: Int) {
        change { state in
            defer { (state.failures, state.answers) = (0, 0) }
            return (state.failures, state.answers)
        }
    }

    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let fault: Fault? = change { state in
            switch state.weather {
            case .fine: nil
            case .offline: .cutBefore
            case .bad:
                Int.random(in: 0..<100, using: &state.chance) < 45
                    ? Fault.allCases.randomElement(using: &state.chance) : nil
            }
        }
        if fault != nil { change { $0.failures += 1 } }
        if fault == .cutBefore { throw URLError(.notConnectedToInternet) }
        let (data, response) = try await transport.send(request)
        guard let url = request.url, let answer = dated(response, url, status: response.statusCode) else {
            throw URLError(.badServerResponse)
        }
        switch fault {
        case nil:
            change { state in
                state.answers += 1
                if answer.statusCode >= 500 { state.failures += 1 }
                state.heard.hear(
                    url.path, answer.statusCode, data,
                    at: Date(timeIntervalSince1970: Double(clock.millisecondsSince1970) / 1000))
            }
            return (data, answer)
        case .cutBefore, .cutAfter: throw URLError(.networkConnectionLost)
        case .unavailable:
            guard let busy = dated(response, url, status: 503) else { throw URLError(.badServerResponse) }
            return (Data(#"{"code":"unavailable","title":"Unavailable","status":503}"#.utf8), busy)
        case .unreadable: return (Data("<html>Sign in to this network</html>".utf8), answer)
        case .half: return (data.prefix(data.count / 2), answer)
        }
    }

    /// The answer of a server whose clock is the test's.
    private func dated(_ response: HTTPURLResponse, _ url: URL, status: Int) -> HTTPURLResponse? {
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        headers = headers.filter { $0.key.lowercased() != "date" }
        headers["Date"] = formatter.string(
            from: Date(timeIntervalSince1970: Double(clock.millisecondsSince1970) / 1000))
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
    }

    private func change<T>(_ body: (inout State) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }
}
