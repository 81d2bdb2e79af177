import AccountStore
import Accounts
import ArgumentParser
import Base
import EvidenceStore
import Foundation
import Operations
import OrderStore
import Postgres
import PurchaseStore

struct FindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Say what an id is, and the command that shows it.",
        discussion: """
            Looks for an account's id, an appAccountToken or its first eight
            digits, a transaction, an original transaction, an order line
            (webOrderLineItemId), a notification's UUID, and an order's number
            (ORD-20260131-0001). Exits with 1 where nothing stored has it.
            Apple's notifications do not name the order number that Apple mails
            to the customer: storehook apple lookup asks Apple for it.

            Example: storehook find 2000000123456789
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The id, as it stands in a mail, a log or a table.") var text: String
    @OptionGroup var output: Output

    func validate() throws {
        guard (1...1000).contains(text.unicodeScalars.count) else {
            throw ValidationError("an id has 1 to 1000 characters")
        }
    }

    func run() async throws {
        let (found, hint) = try await Database.with(try await shared.settings()) { pool in
            (try await find(in: pool), try await AccountIDs(pool).standing().rule == nil)
        }
        guard !found.isEmpty else {
            var message =
                "nothing that is stored is called \(YAMLFault.quoting(text)); storehook accounts list and storehook subscriptions list "
                + "have what is"
            if OrderNumberPrefix(text) != nil { message += "; storehook orders list --search \(text)" }
            if text.wholeMatch(of: /M[A-Z0-9]{7,}/) != nil {
                message += "; if it is the order number of a customer's receipt: storehook apple lookup \(text)"
            }
            if hint { message += "; accounts were not looked for by their ids, see storehook account-ids" }
            throw CommandFailure(message)
        }
        output.print(CommandAnswer(found))
    }

    private func find(in pool: PostgresPool) async throws -> [FoundID] {
        if let prefix = OrderNumberPrefix(text) {
            guard prefix.isWhole else { return [] }
            // Any case is read, and one is written.
            return try await OrderStore(pool).show(text, under: nil).map { FoundID($0, numbered: $0.number ?? text) }
        }
        let search = try await IDSearch(pool).find(text)
        var found = search.accounts.flatMap { account -> [FoundID] in
            let (byID, byToken) = search.ways(to: account, from: text)
            return (byID ? [FoundID(account, byToken: false)] : []) + (byToken ? [FoundID(account, byToken: true)] : [])
        }
        found += search.purchases.map { FoundID($0) }
        if let uuid = search.token ?? UniqueIdentifier(text) {
            let reader = LedgerReader(pool)
            if let notification = try await reader.notification(UUID(uuid)) { found.append(FoundID(notification)) }
            found += try await Outbox(pool).deadLetters(about: UUID(uuid)).map {
                FoundID(deadLetter: $0.id, reason: $0.reason)
            }
        }
        return found
    }
}
