/// One thing that is done in a launch of the example.
enum ExampleCommand: Sendable, Hashable {
    case paywall
    case buy(String)
    case pending(String)
    case cancel(String)
    case approve
    case use(String, times: Int)
    case status
    case restore
    case refresh
    case sync
    case signOut

    /// Reads commands, one after the other.
    /// - Throws: ``UsageError``.
    static func list(_ words: [String]) throws -> [ExampleCommand] {
        var commands: [ExampleCommand] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            func argument(_ what: String) throws -> String {
                guard let next = rest.popFirst() else { throw UsageError(description: "\(word) needs \(what)") }
                return next
            }
            switch word {
            case "paywall": commands.append(.paywall)
            case "buy": commands.append(.buy(try argument("a product")))
            case "pending": commands.append(.pending(try argument("a product")))
            case "cancel": commands.append(.cancel(try argument("a product")))
            case "approve": commands.append(.approve)
            case "use":
                let feature = try argument("a feature")
                let times = rest.first.flatMap { Int($0) }
                if times != nil { rest.removeFirst() }
                commands.append(.use(feature, times: max(0, times ?? 1)))
            case "status": commands.append(.status)
            case "restore": commands.append(.restore)
            case "refresh": commands.append(.refresh)
            case "sync": commands.append(.sync)
            case "sign-out": commands.append(.signOut)
            default: throw UsageError(description: "there is no command \(word); --help lists them")
            }
        }
        return commands
    }
}
