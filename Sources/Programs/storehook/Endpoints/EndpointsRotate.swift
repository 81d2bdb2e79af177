import ArgumentParser
import Base
import EventStore
import Events
import Operations
import Postgres
import Staff

struct EndpointsRotate: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give an endpoint a new secret; the old one signs as well for a day.",
        discussion: """
            Prints the new secret, once. Until the old one ends each delivery carries both signatures, so that the receiver can
            be changed in between. Workers sign with the new one within a second. An earlier secret goes on signing until its
            own end; there may be five former ones.

            Example: storehook endpoints rotate 1 --hours 48
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The endpoint's number.") var id: Int64
    @Option(help: "For how many hours the old secret signs as well, 1 to 720.") var hours = 24
    @Flag(help: "The old secret ends at once, and so do earlier ones: they may be known to others.") var atOnce = false
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        try (1...720).check(hours, "--hours")
    }

    func run() async throws {
        let settings = try await shared.settings()
        let key = try settings.requiredSecretKey()
        let secret = WebhookSecret()
        let new = NewSecret(
            name: "secret", output: output, advice: "storehook endpoints rotate \(id) makes one that is")
        try await new.make(settings) { pool, show in
            let endpoint = try await EndpointStore(pool).rotate(
                id, to: secret, overlap: atOnce ? .zero : .seconds(hours * 3600), key,
                by: try acting.actor(for: .changeEndpoints)
            ) { endpoint in
                try show(Self.answer(endpoint, secret))
            }
            guard endpoint != nil else { throw EndpointsCommand.unknown(id) }
        } isCurrent: { pool in
            try await EndpointStore(pool).callable(id, key)?.secrets.first == secret
        }
    }

    private static func answer(_ endpoint: Endpoint, _ secret: WebhookSecret) -> CommandAnswer {
        let former = endpoint.formerSecretEnds.last.map { "signs as well until \(Timestamp($0))" } ?? "is gone"
        return CommandAnswer(
            ShownEndpoint(endpoint, secret: secret),
            text: """
                \(secret.text)
                This secret is shown once. The old one \(former).
                """)
    }
}
