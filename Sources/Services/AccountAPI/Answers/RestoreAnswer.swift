package import APIKit
package import Accounts
import Base
import HTTPTypes

/// `POST /v1/subscriptions/restore`: what became of each that was handed in, and the account as it is now.
package struct RestoreAnswer: Sendable, Hashable {
    /// What became of one that was handed in.
    package enum Fate: String, Sendable, Hashable, CaseIterable, NamedWords {
        /// See `NamedWords`.
        package static let schemaName = "RestoreResult"

        /// It is this account's now.
        case restored
        /// It was this account's before.
        case known
        /// It was another account's and was moved to this one.
        case transferred
        /// Apple signed it for another account.
        case otherAccount = "other_account"
        /// Another account has proven it before.
        case boundElsewhere = "bound_elsewhere"
        /// The catalog does not know the product: it gives nothing, and is kept.
        case unknownProduct = "unknown_product"
        /// It proves nothing; its code says why.
        case invalid
        /// It cannot be judged now: to be handed in again.
        case undecided
        /// It is none of a purchase, and was taken note of.
        case noted

        /// Whether the purchase is this account's.
        package var isOwn: Bool { [.restored, .known, .transferred].contains(self) }
    }

    /// One that was handed in.
    package struct Item: Sendable, Hashable {
        /// What became of it.
        package var fate: Fate
        /// Why, where it was refused.
        package var code: String?
        /// The same for people.
        package var message: ProblemText?
        /// Apple's number of its purchase.
        package var originalTransactionID: String?
        /// Apple's id of its product.
        package var productID: String?
        /// Where it was made.
        package var environment: String?

        /// One that was handed in.
        package init(
            _ fate: Fate, code: String? = nil, message: ProblemText? = nil, originalTransactionID: String? = nil,
            productID: String? = nil, environment: String? = nil
        ) {
            self.fate = fate
            self.code = code
            self.message = message
            self.originalTransactionID = originalTransactionID
            self.productID = productID
            self.environment = environment
        }

        /// An item that consists of a problem only.
        init(refusing problem: APIProblem) {
            self.init(.invalid)
            refuse(problem)
        }

        /// Makes it one that is refused.
        mutating func refuse(_ problem: APIProblem) {
            fate = problem.code.status == .badRequest ? .invalid : .undecided
            code = problem.code.code
            message = problem.detail
        }
    }

    /// Those that were handed in, in their order.
    package var items: [Item]
    /// The account.
    package var account: AccountView

    /// An answer.
    package init(_ items: [Item], of account: AccountView) {
        self.items = items
        self.account = account
    }

    private static let item = AccountShape<Item>(
        "RestoredTransaction",
        [
            .init("result", "What became of it.") { $0.fate },
            .init("code", "Why, where it was refused: a code of verification, or of a problem.") { $0.code },
            .read("message", "The same for people, in the language asked for.") { item, reader in
                item.message.map { $0.text(in: AnswerLanguage(reader.languages), of: .badRequest) }
            },
            .init("originalTransactionId") { $0.originalTransactionID },
            .init("productId") { $0.productID },
            .init("environment") { $0.environment },
        ])

    /// What it looks like.
    package static let shape = shape(over: AccountShapes.status, AccountShapes.account, named: "RestoredSubscriptions")

    /// What it looks like in a dialect.
    static func shape(
        over status: AccountShape<AccountView>, _ account: AccountShape<AccountView>, named name: String
    ) -> AccountShape<RestoreAnswer> {
        status.after(
            [
                .init("success", "Whether each that was handed in is this account's.") {
                    $0.items.allSatisfy { $0.fate.isOwn || $0.fate == .noted }
                },
                .init("restored", "How many purchases are this account's that were handed in.") { answer in
                    Set(answer.items.filter(\.fate.isOwn).compactMap(\.originalTransactionID)).count
                },
                .list("transactions", item, about: "Each that was handed in, in that order.") { $0.items },
                .nested("account", account) { $0.account },
            ], named: name
        ) { (answer: RestoreAnswer) in answer.account }
    }
}
