import Foundation
import Postgres
import Simulation
import TestSupport
import Testing
import Yams

/// What the shipped files let through to the programs behind them.
@Suite("Behind the shipped proxies")
struct ReachTests {
    private static let api = "api.example.com"
    /// Where Apple's posts are taken.
    private static let webhooks = ["/webhooks/apple", "/v1/subscriptions/webhook", "/subscription/webhook"]
    /// Closed to the world on purpose: the guard is for proxies, and the rest is the operator's.
    private static let closed = ["/v1/guard", "/healthz", "/readyz", "/metrics", "/v1", "/", "/admin"]

    /// The methods and paths of the account API, by its own description; with `{name}` replaced.
    private func endpoints(_ api: ChildProgram) async throws -> [(method: String, path: String)] {
        let text = try await fetch("http://127.0.0.1:\(try #require(api.port))/openapi.json").body
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let all = paths.flatMap { path, methods in
            methods.keys.filter { ["get", "post", "put", "patch", "delete"].contains($0) }
                .map { (method: $0.uppercased(), path: path.replacing(/\{\w+\}/, with: "ai")) }
        }
        return (all + [("GET", "/openapi.json")]).sorted { $0.path < $1.path }
    }

    private func isOpen(_ path: String) -> Bool { !Self.closed.contains(path) }

    private func withPrograms(
        _ files: [String], _ body: (Site, NginxServer, _ api: ChildProgram, _ token: String) async throws -> Void
    ) async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                let token = try await site.run("demo", "token", "alice", with: settings).output
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                let application = try ScriptedServer { _ in .json(200, #"{"application":true}"#) }
                defer { application.stop() }
                try await site.with(["receive", "--port", "0"]) { receiver in
                    try await site.with(["serve", "--port", "0"], settings) { api in
                        let upstreams = NginxServer.Upstreams(
                            receiver: try #require(receiver.port), api: try #require(api.port),
                            application: application.port)
                        try await NginxServer.with(files, before: upstreams) { try await body(site, $0, api, token) }
                    }
                }
            }
        }
    }

    @Test(
        "nginx lets every endpoint of the account API through, and Apple's posts at each of their paths, and nothing else",
        arguments: [["storehook.conf", "storehook-api.conf"], ["storehook-api.conf"]])
    func nginx(_ files: [String]) async throws {
        try await withPrograms(files) { site, nginx, api, token in
            for (method, path) in try await endpoints(api) where isOpen(path) {
                let direct = try await Curl.run(
                    ["-sS", "-w", "\\n%{http_code}", "-X", method, "http://127.0.0.1:\(try #require(api.port))\(path)"])
                let answer = try await nginx.ask(method, path, of: Self.api)
                #expect(answer.status == direct.status && answer.status != 404, "\(method) \(path): \(answer)")
                #expect(answer.code == direct.code, "\(method) \(path): \(answer)")
            }
            for path in Self.closed {
                let answer = try await nginx.ask("GET", path, of: Self.api, token: token)
                #expect(answer.status == 404, "\(path): \(answer)")
            }
            let hosts = files.contains("storehook.conf") ? [Self.api, "storehook.example.com"] : [Self.api]
            var posted: Int64 = 0
            for host in hosts {
                for path in Self.webhooks {
                    posted += 1
                    var customer = SimulatedSubscriber(lane: Int(posted), seed: 1)
                    customer.test(at: Site.now)
                    let jws = try #require(customer.takeNotifications().first).signed(by: site.authority)
                    let answer = try await nginx.ask("POST", path, of: host, body: #"{"signedPayload":"\#(jws)"}"#)
                    #expect(answer.status == 200, "\(host)\(path): \(answer)")
                }
            }
            #expect(try await site.value("select count(*) from storehook.outbox", as: Int64.self) == posted)
            for path in ["/healthz", "/metrics"] {
                #expect(try await nginx.ask("GET", path, of: "storehook.example.com").status == 404, "\(path)")
            }
        }
    }

    @Test("the receiver takes posts at each --path, too, and refuses what is no path")
    func paths() async throws {
        try await withSite { site in
            var customer = SimulatedSubscriber(lane: 1, seed: 1)
            customer.test(at: Site.now)
            let jws = try #require(customer.takeNotifications().first).signed(by: site.authority)
            let arguments = [
                "receive", "--port", "0", "--path", "/apple/v2", "--path", "/webhooks/apple", "--path", "/b",
            ]
            try await site.with(arguments) { receiver in
                let base = "http://127.0.0.1:\(try #require(receiver.port))"
                for (path, status) in [("/apple/v2", 200), ("/b", 200), ("/webhooks/apple", 200), ("/apple", 404)] {
                    let answer = try await Curl(base: base, token: "")(path, #"{"signedPayload":"\#(jws)"}"#)
                    #expect(answer.status == status, "\(path): \(answer)")
                }
            }
            for wrong in ["", "/", "apple", "/a/", "/a?b=c", "/a b", "/:id", "/*", "/..", "/healthz"] {
                let refused = try await site.run("receive", "--port", "0", "--path", wrong)
                #expect(
                    refused.ending == .exited(2) && refused.errors.contains("--path"), "\(wrong): \(refused.errors)")
            }
        }
    }

    @Test("a body of 6 MiB arrives through nginx, and not a byte more")
    func bodies() async throws {
        try await withPrograms(["storehook-api.conf"]) { _, nginx, api, token in
            let base = "http://127.0.0.1:\(try #require(api.port))"
            let restore = #"{"signedTransactions":[]}"#
            let body = restore + String(repeating: " ", count: (6 << 20) - restore.utf8.count)
            let direct = try await Curl(base: base, token: token)("/v1/subscriptions/restore", body)
            #expect(direct.status != 413, "\(direct)")
            for path in ["/v1/subscriptions/restore", "/subscriptions/restore"] {
                let answer = try await nginx.ask("POST", path, of: Self.api, token: token, body: body)
                #expect(answer.status == direct.status && answer.code == direct.code, "\(path): \(answer)")
                #expect(try await nginx.ask("POST", path, of: Self.api, token: token, body: body + " ").status == 413)
            }
        }
    }

    @Test("what nginx guards is 503 with Retry-After while no account API answers, and 403 for who may not see it")
    func guarded() async throws {
        try await withPrograms(["storehook-api.conf"]) { _, nginx, api, token in
            let host = "premium.example.com"
            #expect(try await nginx.ask("GET", "/page", of: host).status == 401)
            func look() async throws -> Curl.Answer {
                try await Curl.run([
                    "-sS", "--insecure", "-w", "\\n%{http_code}", "-I", "--connect-to",
                    "\(host):443:127.0.0.1:\(nginx.port)", "-H", "Authorization: Bearer \(token)",
                    "https://\(host)/page",
                ])
            }
            // There is no catalog yet, hence no tier.
            let refused = try await look()
            let reason = refused.body.lowercased().contains("x-storehook-reason: unknown_tier")
            #expect(refused.status == 403 && reason, "\(refused)")
            api.signal(SIGTERM)
            #expect(await api.end() == .exited(0))
            let head = try await look()
            #expect(head.status == 503 && head.body.lowercased().contains("retry-after: 5"), "\(head)")
        }
    }

    @Test("the ingress leads every endpoint of the account API, and Apple's posts, to the program that answers them")
    func ingress() async throws {
        let rules = try IngressRules(file: packageRoot.appending(path: "deploy/kubernetes/ingress.yaml"))
        #expect(rules.bodySizes == ["storehook": "256k", "storehook-api": "6m"])
        for path in Self.webhooks {
            for host in [Self.api, "storehook.example.com"] {
                #expect(rules.service(host, path) == "storehook-receiver", "\(host)\(path)")
            }
        }
        for path in Self.closed {
            #expect(rules.service(Self.api, path) == nil, "\(path)")
            #expect(rules.service("storehook.example.com", path) == nil, "\(path)")
        }
        try await withSite { site in
            try await withTokenKey { settings in
                try await site.with(["serve", "--port", "0"], settings) { api in
                    for (_, path) in try await endpoints(api) where isOpen(path) {
                        #expect(rules.service(Self.api, path) == "storehook-api", "\(path)")
                    }
                }
            }
        }
    }
}

/// The rules of all ingresses of a file, as a controller applies them.
private struct IngressRules {
    private var exact: [String: String] = [:]
    private var prefixes: [(host: String, path: String, service: String)] = []
    /// The bound on bodies, by the ingress's name.
    private(set) var bodySizes: [String: String] = [:]

    init(file: URL) throws {
        for document in try Yams.load_all(yaml: String(contentsOf: file, encoding: .utf8)) {
            let ingress = try #require(document as? [String: Any])
            let metadata = try #require(ingress["metadata"] as? [String: Any])
            let annotations = try #require(metadata["annotations"] as? [String: String])
            bodySizes[try #require(metadata["name"] as? String)] =
                annotations["nginx.ingress.kubernetes.io/proxy-body-size"]
            let specification = try #require(ingress["spec"] as? [String: Any])
            for rule in try #require(specification["rules"] as? [[String: Any]]) {
                let host = try #require(rule["host"] as? String)
                let http = try #require(rule["http"] as? [String: Any])
                for path in try #require(http["paths"] as? [[String: Any]]) { try add(path, host) }
            }
        }
    }

    private mutating func add(_ rule: [String: Any], _ host: String) throws {
        let path = try #require(rule["path"] as? String)
        let backend = try #require(rule["backend"] as? [String: Any])
        let service = try #require((backend["service"] as? [String: Any])?["name"] as? String)
        if rule["pathType"] as? String == "Exact" {
            exact[host + path] = service
        } else {
            try #require(rule["pathType"] as? String == "Prefix")
            prefixes.append((host, path, service))
        }
    }

    /// The service that answers: an exact path goes before a prefix, and a prefix ends at a slash (Kubernetes, "Ingress", path types).
    func service(_ host: String, _ path: String) -> String? {
        exact[host + path]
            ?? prefixes.filter { $0.host == host && (path + "/").hasPrefix($0.path + "/") }
            .max { $0.path.count < $1.path.count }?.service
    }
}
