import ArgumentParser

struct OrdersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orders",
        abstract: "Orders: what was bought, paid and refunded, under numbers.",
        discussion: """
            An order is all transactions of a subscription, or a thing that was
            bought once. Its number is what people read to each other.

            Example: storehook orders list --status refunded --from 2026-01-01
            """,
        subcommands: [OrdersList.self, OrdersShow.self])
}
