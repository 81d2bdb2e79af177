import Foundation
import Glibc
import TestSupport

/// A Prometheus of the test's own, which scrapes the programs by the example configuration of `deploy/prometheus`, but
/// every second and at the ports they really have.
struct PrometheusServer: Sendable {
    /// `deploy` in the sources.
    static let deploy = packageRoot.appending(path: "deploy")

    let port: Int

    /// Where a program of Prometheus' is.
    static func executable(_ name: String) throws -> String { try Executable.onPath(name, of: "prometheus") }

    /// Runs one while `body` lasts.
    static func with<T>(
        receiver: Int, worker: Int, api: Int, console: Int, _ body: (PrometheusServer) async throws -> T
    ) async throws -> T {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-prom-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let example = try String(contentsOf: deploy.appending(path: "prometheus/prometheus.yml"), encoding: .utf8)
        let configuration = directory.appending(path: "prometheus.yml")
        try example.replacing("15s", with: "1s")
            .replacing("- rules.yml", with: "- \(deploy.path)/prometheus/rules.yml")
            .replacing("[127.0.0.1:9100]", with: "[127.0.0.1:\(receiver)]")
            .replacing("[127.0.0.1:9101, 127.0.0.1:9102]", with: "[127.0.0.1:\(worker)]")
            .replacing("[127.0.0.1:9110]", with: "[127.0.0.1:\(api)]")
            .replacing("[127.0.0.1:9111]", with: "[127.0.0.1:\(console)]")
            .write(to: configuration, atomically: true, encoding: .utf8)
        let program = try ChildProgram(
            try executable("prometheus"),
            [
                "--config.file=\(configuration.path)", "--storage.tsdb.path=\(directory.path)/data",
                "--web.listen-address=127.0.0.1:0",
            ], environment: ["PATH": "/usr/bin:/bin"])
        do {
            let server = PrometheusServer(port: try await untilReady(program))
            let value = try await body(server)
            await program.discard()
            return value
        } catch {
            print("what Prometheus said before the test failed:\n\(program.errors)")
            await program.discard()
            throw error
        }
    }

    private static func untilReady(_ program: ChildProgram) async throws -> Int {
        var port: Int?
        try await eventually("Prometheus is ready") {
            if let ending = program.ending { throw NeverHappened("Prometheus is ready; instead: \(ending)") }
            let said = program.errors
            guard said.contains("Server is ready to receive web requests"),
                let match = said.firstMatch(of: /msg="Listening on" address=127\.0\.0\.1:(\d+)/)
            else { return false }
            port = Int(match.1)
            return true
        }
        guard let port else { throw NeverHappened("Prometheus says its port") }
        return port
    }

    /// The series that a query gives now: their labels and values. Fails if Prometheus does not understand it.
    func query(_ expression: String) async throws -> [(labels: [String: String], value: Double)] {
        var parts = URLComponents()
        parts.queryItems = [URLQueryItem(name: "query", value: expression)]
        // A plus sign stands for a blank in a query, and URLComponents lets it be.
        let query = (parts.percentEncodedQuery ?? "").replacing("+", with: "%2B")
        let data = try await get("/api/v1/query?\(query)")
        guard let result = data["result"] as? [[String: Any]] else { throw NeverHappened("an answer to \(expression)") }
        return result.map { series in
            let value = (series["value"] as? [Any])?.last as? String
            return (series["metric"] as? [String: String] ?? [:], value.flatMap(Double.init) ?? .nan)
        }
    }

    /// The alerts that are firing, by name.
    func firing() async throws -> Set<String> {
        let alerts = try await get("/api/v1/alerts")["alerts"] as? [[String: Any]] ?? []
        return Set(
            alerts.filter { $0["state"] as? String == "firing" }
                .compactMap { ($0["labels"] as? [String: String])?["alertname"] })
    }

    /// The rules that Prometheus could not evaluate, with what it says.
    func brokenRules() async throws -> [String] {
        let groups = try await get("/api/v1/rules")["groups"] as? [[String: Any]] ?? []
        return groups.flatMap { $0["rules"] as? [[String: Any]] ?? [] }
            .filter { !["ok", "unknown"].contains($0["health"] as? String) }
            .map { "\($0["name"] ?? "?"): \($0["lastError"] ?? "?")" }
    }

    private func get(_ path: String) async throws -> [String: Any] {
        let (status, body) = try await fetch("http://127.0.0.1:\(port)\(path)")
        let json = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        guard status == 200, json?["status"] as? String == "success", let data = json?["data"] as? [String: Any] else {
            throw NeverHappened("Prometheus answers \(path); instead: \(status) \(body)")
        }
        return data
    }
}
