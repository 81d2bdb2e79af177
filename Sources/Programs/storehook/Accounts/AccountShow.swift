import AccountStore
import Accounts
import AppStorePayloads
import ArgumentParser
import Base
import Operations
import PurchaseStore

struct AccountShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what an account is at an instant, and why.",
        discussion: """
            Purchases with whose they are, grants, blocks and other acts with who did them, the trial. By all that is known now, under
            the catalog that is current now. With --known-at: by what had been applied and recorded by then, the catalog too; refused for
            the future, and for a time whose evidence was dropped (STOREHOOK_RETENTION_DAYS). An account called "show", "expiring" or "erase" is asked for with: storehook account show show

            Example: storehook account user-42
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var account: AccountOptions
    @Option(help: "The instant, ISO 8601 in UTC; now by default.", transform: Timestamp.argument) var at: Timestamp?
    @OptionGroup var knowledge: KnowledgeOptions
    @Option(help: "Apple's name of the environment.", transform: Environment.argument)
    var environment = Environment.production

    func run() async throws {
        let (reference, instant) = (account.account, at)
        let settings = try await shared.settings()
        let (named, known) = try await Database.with(settings) { pool in
            do {
                let (named, store) = (try await Database.account(reference, pool, settings), AccountStore(pool))
                guard let known = knowledge.knownAt else {
                    return (named, try await store.history(of: named.token, in: environment.rawValue, at: instant))
                }
                let then = KnowledgeThen(at: known, policy: try settings.statusPolicy())
                return (
                    named,
                    try await store.history(of: named.token, in: environment.rawValue, at: instant, knowing: then)
                )
            } catch let refusal as ActRefusal {
                throw CommandFailure("\(refusal)")
            } catch let refusal as KnowledgeThen.Refusal {
                throw CommandFailure("\(refusal)")
            }
        }
        guard var view = known else {
            if let then = knowledge.knownAt {
                throw CommandFailure("nothing was known of account \(reference) in \(environment) by \(then)")
            }
            return try await showUnknown(named, at: instant, settings)
        }
        view.account = view.account ?? named.id
        account.output.print(CommandAnswer(view, AccountShapes.command, text: view.text))
    }

    /// An account that is not known in this environment. One that the app has asked about has what everybody has; of any
    /// other there is nothing to show.
    private func showUnknown(_ named: AccountIdentity, at instant: Timestamp?, _ settings: Settings) async throws {
        let (reference, environment) = (account.account, environment)
        let (handed, view, elsewhere) = try await Database.with(settings) { pool in
            let store = AccountStore(pool)
            var elsewhere: [Environment] = []
            for place in [Environment.production, .sandbox, .xcode, .localTesting] where place != environment {
                if try await store.history(of: named.token, in: place.rawValue) != nil { elsewhere.append(place) }
            }
            let handed = try await store.known([named.token]).first { !$0.isCustomer }
            return (handed, try await store.view(named.token, in: environment.rawValue), elsewhere)
        }
        guard let handed else {
            let advice =
                elsewhere.first.map { "it is known in \($0): --environment \($0)" }
                ?? "storehook accounts list has the known accounts"
            throw CommandFailure(
                "nothing is known of account \(reference) in \(environment), so it has what everybody has; \(advice)")
        }
        var shown = view
        shown.account = handed.account ?? named.id
        if let instant { shown.instant = instant }
        let since = "the app has asked for its token at \(handed.knownAt), and nothing was bought or done for it since"
        account.output.print(CommandAnswer(shown, AccountShapes.command, text: "\(shown.text)\n\(since)"))
    }
}
