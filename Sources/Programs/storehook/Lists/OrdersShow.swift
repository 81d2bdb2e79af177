import AccountStore
import ArgumentParser
import AuditStore
import Base
import Operations
import OrderStore

struct OrdersShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an order with its transactions and refunds.",
        discussion: """
            By its number, or by an id of Apple's that leads to it: a transaction,
            an order line or an original transaction. One that another customer paid
            for, as late evidence shows, keeps its number and is named as shared.
            The account is shortened; --open shows it, on record. With --at, it is
            what had been heard of it by then.

            Example: storehook orders show ORD-20260131-0001
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The number, or an id of Apple's.") var number: String
    @OptionGroup var past: PastOptions
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: Output

    func validate() throws {
        guard (1...1000).contains(number.unicodeScalars.count) else {
            throw ValidationError("a number or an id has 1 to 1000 characters")
        }
    }

    func run() async throws {
        let shown = try await Database.with(try await shared.settings()) { pool in
            let catalog = try await AccountStore(pool).current()?.catalog
            let shown = try await OrderStore(pool).show(number, under: catalog, at: past.at)
            if shown.count == 1, case .order(let detail) = shown[0] {
                let opened = OpenedOrder(detail.order, isOpen: opening.open).openedTexts
                try await opening.note(opened, isExport: false, AuditLog(pool))
            }
            return shown
        }
        guard let order = shown.first else {
            let then = past.at.map { " by what had been heard by \($0)" } ?? ""
            throw CommandFailure(
                "no order has the number or id \(YAMLFault.quoting(number))\(then); storehook orders list has all orders"
            )
        }
        guard shown.count == 1 else {
            let numbers = shown.map { $0.number ?? "one without a number yet" }.joined(separator: ", ")
            throw CommandFailure("several orders have \(YAMLFault.quoting(number)), say which: \(numbers)")
        }
        output.print(CommandAnswer(order, isOpen: opening.open))
    }
}
