package import Accounts
import AppStorePayloads
import AppStoreServerAPI
import Base

/// The rules of a policy, as people and scripts see them.
package struct ConsumptionPolicyAnswer: Encodable, Sendable {
    private struct Rule: Encodable, Sendable {
        var number: Int
        var name: String?
        var products: [String]?
        var types: [String]?
        var reasons: [String]?
        var environments: [String]?
        var apps: [String]?
        var leaveToApple: Bool
        var deliveryStatus: String?
        var sampleContentProvided: Bool?
        var consumptionPercentage: Int64?
        var refundPreference: String?

        init(_ rule: ConsumptionRule) {
            number = rule.number
            name = rule.name
            products = rule.products?.map { product in
                switch product {
                case .exactly(let name): name
                case .beginning(let start): start + "*"
                }
            }
            types = rule.types?.map(\.rawValue).sorted()
            reasons = rule.reasons?.map(\.rawValue).sorted()
            environments = rule.environments?.map(\.rawValue).sorted()
            apps = rule.apps?.sorted()
            leaveToApple = rule.verdict == .leaveToApple
            if case .answer(let answer) = rule.verdict {
                deliveryStatus = answer.deliveryStatus.rawValue
                sampleContentProvided = answer.sampleContentProvided
                consumptionPercentage = answer.consumptionPercentage
                refundPreference = answer.refundPreference?.rawValue
            }
        }

        var conditions: String {
            let all = [products, types, reasons, environments, apps].compactMap { $0?.joined(separator: " or ") }
            return all.isEmpty ? "everything" : all.joined(separator: "; ")
        }

        var words: String {
            guard !leaveToApple else { return "left to Apple" }
            let share = consumptionPercentage.map { "used \(Double($0) / 1000) %" }
            return [deliveryStatus, sampleContentProvided == true ? "sample provided" : nil, share, refundPreference]
                .compactMap(\.self).joined(separator: ", ")
        }
    }

    private let rules: [Rule]

    /// An answer of a policy's rules.
    package init(_ policy: ConsumptionPolicy) { rules = policy.rules.map(Rule.init) }

    /// A line a rule, in the order in which they are asked.
    package var text: String {
        var table = Table(["RULE", "FITS", "SAYS"])
        for rule in rules {
            table.add([rule.name.map { "\(rule.number) \($0)" } ?? "\(rule.number)", rule.conditions, rule.words])
        }
        return table.text + "\n\nthe first that fits speaks; what none fits is not answered"
    }
}
