package import Accounts
import AppStorePayloads
import Base

extension CommandAnswer {
    /// The rules of a policy, a line each, in the order in which they are asked.
    package init(_ policy: ConsumptionPolicy) {
        self.init(
            ["rules": ConsumptionRule.shape.values(of: policy.rules)],
            text: ConsumptionRule.shape.table(of: policy.rules)
                + "\n\nthe first that fits speaks; what none fits is not answered")
    }
}

extension ConsumptionRule {
    fileprivate static let shape = CommandShape<ConsumptionRule>([
        .init("number", \.number), .init("name", \.name),
        .column("RULE") { rule in rule.name.map { "\(rule.number) \($0)" } ?? "\(rule.number)" },
        .init("products", \.productNames), .init("types", \.typeNames), .init("reasons", \.reasonNames),
        .init("environments", \.environmentNames), .init("apps") { $0.apps?.sorted() },
        .column("FITS") { $0.conditions }, .init("leave_to_apple") { $0.verdict == .leaveToApple },
        .init("delivery_status", \.answer?.deliveryStatus.rawValue),
        .init("sample_content_provided", \.answer?.sampleContentProvided),
        .init("consumption_percentage", \.answer?.consumptionPercentage),
        .init("refund_preference", \.answer?.refundPreference?.rawValue), .column("SAYS") { $0.words },
    ])

    private var answer: ConsumptionAnswer? {
        if case .answer(let answer) = verdict { answer } else { nil }
    }

    private var productNames: [String]? {
        products?.map { product in
            switch product {
            case .exactly(let name): name
            case .beginning(let start): start + "*"
            }
        }
    }
    private var typeNames: [String]? { types?.map(\.rawValue).sorted() }
    private var reasonNames: [String]? { reasons?.map(\.rawValue).sorted() }
    private var environmentNames: [String]? { environments?.map(\.rawValue).sorted() }

    private var conditions: String {
        let all = [productNames, typeNames, reasonNames, environmentNames, apps?.sorted()]
            .compactMap { $0?.joined(separator: " or ") }
        return all.isEmpty ? "everything" : all.joined(separator: "; ")
    }

    private var words: String {
        guard let answer else { return "left to Apple" }
        let share = answer.consumptionPercentage.map { "used \(Double($0) / 1000) %" }
        return [
            answer.deliveryStatus.rawValue, answer.sampleContentProvided == true ? "sample provided" : nil, share,
            answer.refundPreference?.rawValue,
        ].compactMap(\.self).joined(separator: ", ")
    }
}
