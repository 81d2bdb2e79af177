import AppStorePayloads
import ArgumentParser
import Base
import EventStore
import Events
import HTTPKit
import Operations
import Staff
import Webhooks

struct EndpointsAdd: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an endpoint; events that are written from now on are posted to it.",
        discussion: """
            Prints the secret that its deliveries are signed with (Standard Webhooks); it is shown once. What is older than the
            endpoint it gets by storehook events resend.

            Example: storehook endpoints add https://example.com/webhooks --app com.example.app --kinds 'subscription.*'
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "Where to post to, https.") var url: String
    @Option(help: "Only events of this app (bundle id), of none, and account.*: apps share accounts.") var app: String?
    @Option(help: "Only events of this environment: Production, Sandbox.", transform: Environment.argument)
    var environment: Environment?
    @Option(
        help: "Only these kinds, separated by commas; * stands for any part: 'subscription.*,account.access_changed'.")
    var kinds: String?
    @Option(
        help: "At most so many deliveries a second, also when it catches up: 1 to 100000, or none.",
        transform: EndpointsCommand.rateLimit)
    var rate = EndpointStore.RateLimit.none
    @Option(help: "At most so many at the same time, by each worker; 1 to 256.") var inFlight = 32
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        try (1...256).check(inFlight, "--in-flight")
        guard app.map({ (1...255).contains($0.unicodeScalars.count) }) ?? true else {
            throw ValidationError("--app takes a bundle id")
        }
        if let strange = filter.strangePattern {
            let kinds = EventKind.allCases.map(\.rawValue)
            let advice =
                Spelling.nearest(to: strange, among: kinds).map { "did you mean \($0)?" }
                ?? "there are \(kinds.joined(separator: ", "))"
            throw ValidationError("--kinds: no kind of event fits \(strange.prefix(100)); \(advice)")
        }
        guard filter.kinds.map({ (1...100).contains($0.count) }) ?? true else {
            throw ValidationError("--kinds takes 1 to 100 of them")
        }
    }

    private var filter: EndpointFilter {
        EndpointFilter(
            bundleID: app, environment: environment?.rawValue,
            kinds: kinds.map { $0.split(separator: ",").map { $0.filter { !$0.isWhitespace } } })
    }

    func run() async throws {
        let settings = try await shared.settings()
        let key = try settings.requiredSecretKey()
        let url = try await checked(url, settings)
        let secret = WebhookSecret()
        let new = NewSecret(
            name: "secret", output: output, advice: "storehook endpoints list says whether the endpoint is there")
        try await new.make(settings) { pool, show in
            _ = try await EndpointStore(pool).add(
                url, filter, rate: rate, inFlight: inFlight, secret: secret, key,
                by: try acting.actor(for: .changeEndpoints)
            ) { endpoint in
                try show(Self.answer(endpoint, secret))
            }
        } isCurrent: { pool in
            try await EndpointStore(pool).callable(key).contains { $0.secrets.first == secret }
        }
    }

    private static func answer(_ endpoint: Endpoint, _ secret: WebhookSecret) -> CommandAnswer {
        CommandAnswer(
            ShownEndpoint(endpoint, secret: secret),
            text: """
                endpoint \(endpoint.id): \(endpoint.url)
                \(secret.text)
                This secret is shown once; the receiver checks signatures with it. To try it: storehook endpoints test \
                \(endpoint.id)
                """)
    }

    /// Refuses a URL that workers would never call. A name that does not resolve here is accepted: the workers may use
    /// another resolver.
    private func checked(_ text: String, _ settings: Settings) async throws -> StrictURL {
        let policy = try settings.endpointPolicy()
        do throws(AddressRefusal) {
            let url = try policy.url(text)
            if case .name(let name) = url.host {
                let resolver = SystemResolver(threads: 1)
                let addresses = await resolver.addresses(of: name)
                await resolver.shutdown()
                if addresses.isEmpty {
                    StandardError.line("storehook: note: the name \(name) resolves to no address here")
                } else {
                    _ = try policy.addresses(addresses)
                }
            }
            return url
        } catch {
            let setting: String? =
                switch error {
                case .notHTTPS: "STOREHOOK_ENDPOINT_HTTP=on"
                case .address, .loopbackName: "STOREHOOK_ENDPOINT_NETWORKS, for this command and the workers"
                default: nil
                }
            throw CommandFailure(
                "the URL is not called: \(error)\(setting.map { " \($0)" } ?? "")", status: .usage)
        }
    }
}
