import AppStorePayloads
import Base

extension ConsumptionRule {
    /// What it says, by the names that its members have in the file; nil where it says nothing.
    var members: [(String, String?)] {
        func words(_ values: [String]?) -> String? { values?.sorted().joined(separator: ", ") }
        let answer: ConsumptionAnswer? = if case .answer(let answer) = verdict { answer } else { nil }
        return [
            ("name", name), ("products", products?.map(\.text).joined(separator: ", ")),
            ("types", words(types.map { types in ProductType.names.filter { types.contains($0.value) }.map(\.key) })),
            ("reasons", words(reasons?.map(\.rawValue))), ("environments", words(environments?.map(\.rawValue))),
            ("apps", words(apps.map(Array.init))), ("answer", verdict == .leaveToApple ? "leave_to_apple" : nil),
            ("answer.delivery_status", answer?.deliveryStatus.rawValue),
            ("answer.sample_content_provided", answer.map { $0.sampleContentProvided ? "true" : "false" }),
            ("answer.consumption_percentage", answer?.consumptionPercentage.map { "\($0)" }),
            ("answer.refund_preference", answer?.refundPreference?.rawValue),
        ]
    }
}

extension ConsumptionRule.Product {
    /// As the file has it.
    fileprivate var text: String {
        switch self {
        case .exactly(let id): id
        case .beginning(let start): "\(start)*"
        }
    }
}
