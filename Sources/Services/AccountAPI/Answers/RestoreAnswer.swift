import APIKit
package import Base
import HTTPTypes

/// `POST /v1/subscriptions/restore`: what became of each that was handed in, and the account as it is now.
package struct RestoreAnswer: Sendable, Hashable {
    /// What became of one that was handed in.
    package enum Fate: String, Sendable, Hashable, CaseIterable {
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
        package var message: String?
        /// Apple's number of its purchase.
        package var originalTransactionID: String?
        /// Apple's id of its product.
        package var productID: String?
        /// Where it was made.
        package var environment: String?

        /// One that was handed in.
        package init(
            _ fate: Fate, code: String? = nil, message: String? = nil, originalTransactionID: String? = nil,
            productID: String? = nil, environment: String? = nil
        ) {
            self.fate = fate
            self.code = code
            self.message = message
            self.originalTransactionID = originalTransactionID
            self.productID = productID
            self.environment = environment
        }

        /// One that a problem is all there is to tell of.
        init(refusing problem: APIProblem) {
            self.init(
                problem.code.status == .badRequest ? .invalid : .undecided, code: problem.code.code,
                message: problem.detail)
        }
    }

    /// Those that were handed in, in their order.
    package var items: [Item]
    /// The account.
    package var account: AccountPicture

    /// An answer.
    package init(_ items: [Item], of account: AccountPicture) {
        self.items = items
        self.account = account
    }

    private static let item = AccountShape<Item>(
        "RestoredTransaction",
        [
            .init("result", .choice(Fate.allCases.map(\.rawValue)), "What became of it.") {
                .string($0.fate.rawValue)
            },
            .init("code", .nullable(.text), "Why, where it was refused: a code of verification, or of a problem.") {
                .text($0.code)
            },
            .init("message", .nullable(.text)) { .text($0.message) },
            .init("originalTransactionId", .nullable(.text)) { .text($0.originalTransactionID) },
            .init("productId", .nullable(.text)) { .text($0.productID) },
            .init("environment", .nullable(.text)) { .text($0.environment) },
        ])

    /// What it looks like.
    package static let shape = StatusAnswer.shape.after(
        [
            .init("success", .boolean, "Whether each that was handed in is this account's.") {
                .bool($0.items.allSatisfy { $0.fate.isOwn || $0.fate == .noted })
            },
            .init("restored", .integer(), "How many purchases are this account's that were handed in.") { answer in
                let own = answer.items.filter(\.fate.isOwn).compactMap(\.originalTransactionID)
                return .integer(Int64(Set(own).count))
            },
            .read("transactions", .array(item.schema), "Each that was handed in, in that order.") { answer, reader in
                .array(answer.items.map { item.value(of: $0, for: reader) })
            },
            .read("account", AccountAnswer.shape.schema) { AccountAnswer.shape.value(of: $0.account, for: $1) },
        ], named: "RestoredSubscriptions"
    ) { (answer: RestoreAnswer) in answer.account }
}
