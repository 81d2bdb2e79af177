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
            Looks for an account's id, an appAccountToken, a transaction, an
            original transaction, an order line (webOrderLineItemId), a
            notification's UUID, and an order's number (ORD-20260131-0001). Exits with 1 where nothing stored has it.
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
        let reader = LedgerReader(pool)
        let reference = AccountReference(text)
        var uuid = UniqueIdentifier(text)
        if case .token(let token) = reference { uuid = token }
        let token = uuid?.accountToken
        // A command that only looks names no rule.
        let rule = try await AccountIDs(pool).standing().rule
        let named = rule.flatMap { reference?.account(by: $0)?.token }
        let known = try await AccountStore(pool).known(Set([named, token].compactMap(\.self)))
        var found = known.flatMap { account -> [FoundID] in
            let byToken = account.token == token
            let byID = account.token == named && (account.account == text || !byToken)
            return (byID ? [FoundID(account, byToken: false)] : []) + (byToken ? [FoundID(account, byToken: true)] : [])
        }
        // Before a catalog is applied there are no customers, but purchases with tokens.
        if let token, !known.contains(where: { $0.token == token && $0.isCustomer }) {
            found += try await reader.purchases(signedFor: token).map { FoundID($0) }
        }
        found += try await reader.purchases(numbered: text).map { FoundID($0) }
        if let uuid {
            if let notification = try await reader.notification(UUID(uuid)) { found.append(FoundID(notification)) }
            found += try await Outbox(pool).deadLetters(about: UUID(uuid)).map {
                FoundID(deadLetter: $0.id, reason: $0.reason)
            }
        }
        return found
    }
}
