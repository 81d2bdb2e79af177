import Accounts
import AppStorePayloads
import Base
import EventStore
import Foundation
import Subscriptions

/// Prints the steps of a customer's life: for people, in colour on a terminal alone, or a line of JSON each.
struct DemoLifePrinter {
    private enum Colour: String {
        case bold = "1"
        case faint = "2"
        case green = "32"
        case yellow = "33"
        case red = "31"
        case cyan = "36"
    }

    let isTable: Bool
    private let isColoured: Bool

    init(isTable: Bool) {
        self.isTable = isTable
        let environment = ProcessInfo.processInfo.environment
        isColoured =
            isTable && StandardOutput.isTerminal && environment["TERM"] != "dumb"
            && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Before the first step.
    /// - Parameter missing: the product, where the catalog does not know it.
    func begin(_ stage: DemoStage, _ token: UniqueIdentifier, _ missing: String?) {
        guard isTable else { return }
        say(
            paint("A customer's life", .bold) + ": account \(stage.account), at the shop \(stage.shop.url) in "
                + stage.environment.rawValue)
        say(paint("The app hands the token to StoreKit with each purchase: \(token)", .faint))
        if let missing {
            say(
                paint("No catalog knows \(missing), so it opens nothing: ", .yellow)
                    + "storehook catalog apply deploy/catalogs/simulator.yaml")
        }
    }

    /// A step.
    func tell(_ step: DemoStep) {
        guard isTable else { return StandardOutput.line(step.json.text) }
        say("")
        say(paint("\(step.name.prefix(1).uppercased())\(step.name.dropFirst())", .bold) + "  \(step.what)")
        let posts = step.posts.map {
            "\(paint($0.name, .cyan)), signed \(Self.time($0.signedAt)) UTC"
        }
        list("Apple posted", posts.isEmpty ? ["nothing"] : posts)
        let (before, after) = (text(step.before), text(step.after))
        list("what changed", [before == after ? "nothing: \(after)" : "\(before) → \(after)"])
        let events = step.events.map { paint($0.kind, .cyan) + paint("  \($0.name)", .faint) }
        list("event sent", events.isEmpty ? ["none"] : events)
        let body = step.answer.body
        var said = ["\(step.answer.status)", "status \(paint(status: body["status"]?.asText ?? "?"))"]
        if let tier = body["tier"]?.asText { said.append("tier \(tier)") }
        if case .bool(let hasAccess)? = body["hasAccess"] {
            said.append(hasAccess ? paint("access", .green) : paint("no access", .red))
        }
        if let end = body["expiresAt"]?.asText, body["hasAccess"] == .bool(true) {
            said.append("until \(end.dropFirst(11).prefix(8)) UTC")
        }
        list("GET \(step.path.prefix { $0 != "?" })", [said.joined(separator: ", ")])
    }

    /// After the last step.
    func end(_ original: String, _ stage: DemoStage) {
        guard isTable else { return }
        say("")
        say("The whole story: storehook subscription \(original), storehook account \(stage.account)")
    }

    private func say(_ line: String) { StandardOutput.line(line) }

    private func list(_ name: String, _ lines: [String]) {
        for (number, line) in lines.enumerated() {
            let label = number == 0 ? name : ""
            say("  " + paint(label, .faint) + String(repeating: " ", count: max(1, 18 - label.count)) + line)
        }
    }

    private func text(_ view: SubscriptionView?) -> String {
        guard let view, let status = view.status else { return "no purchase" }
        var text = paint(status: status.rawValue)
        if status.access {
            if let end = status == .gracePeriod ? view.graceEndsAt : view.periodEndsAt {
                text += " until \(Self.time(end))"
            }
            if let willRenew = view.willRenew { text += willRenew ? ", renews" : ", does not renew" }
        }
        return text
    }

    private func paint(status: String) -> String {
        switch status {
        case "trial", "active": paint(status, .green)
        case "grace_period", "cancelled": paint(status, .yellow)
        case "revoked", "expired", "billing_retry": paint(status, .red)
        default: status
        }
    }

    private func paint(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    private static func time(_ instant: Timestamp) -> String { String("\(instant)".dropFirst(11).prefix(8)) }
}
