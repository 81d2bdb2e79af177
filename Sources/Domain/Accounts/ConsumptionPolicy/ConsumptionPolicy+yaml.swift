import AppStorePayloads
public import Base
package import Yams

extension ConsumptionPolicy {
    /// Reads a policy out of YAML:
    ///
    ///     rules:
    ///       - products: [com.example.coins.*]
    ///         reasons: [UNINTENDED_PURCHASE]
    ///         answer: leave_to_apple
    ///       - answer:
    ///           delivery_status: DELIVERED
    ///           sample_content_provided: false
    ///           consumption_percentage: 100%
    ///           refund_preference: DECLINE
    ///
    /// Nothing is ignored: an unknown member, a value that Apple does not have, and what Apple would
    /// refuse are faults.
    public init(yaml text: String) throws(YAMLFault) {
        guard let root = try YAMLText.root(of: text, "a policy"), root.mapping != nil else {
            throw YAMLFault(line: nil, message: "write rules: and below it a list of rules")
        }
        let members = try StrictMapping(root, .policy)
        try self.init(rules: try members.required("rules"), called: "rules")
    }

    /// Reads a list of rules, of a policy's file or of a catalog: they have one form.
    /// - Parameter name: the list's name in faults.
    package init(rules list: Node, called name: String) throws(YAMLFault) {
        guard let items = list.sequence, !items.isEmpty else {
            throw YAMLFault(list, "\(name) is a list of at least one rule, each with answer:")
        }
        var rules: [ConsumptionRule] = []
        for (index, item) in items.enumerated() {
            if let whole = rules.last(where: \.fitsEverything) {
                throw YAMLFault(
                    item, "this rule is never asked: rule \(whole.number) has no condition and fits everything")
            }
            rules.append(try ConsumptionRule(item, number: index + 1))
        }
        self.init(rules: rules)
    }
}

extension ConsumptionPolicy {
    /// The kinds of product that rules name.
    package static let types: [String] = ProductType.names.keys.sorted()
    /// The customers' reasons that rules name.
    package static let reasons: [String] = ConsumptionRequestReason.known.names.keys.sorted()
    /// The environments that rules name.
    package static let environments: [String] = environmentNames.keys.sorted()
    /// The values of `delivery_status` in answers.
    package static let deliveryStatuses: [String] = DeliveryStatus.known.names.keys.sorted()
    /// The values of `refund_preference` in answers.
    package static let refundPreferences: [String] = RefundPreference.known.names.keys.sorted()

    fileprivate static let environmentNames = ["Production": Environment.production, "Sandbox": .sandbox]
}

extension ConsumptionRule {
    fileprivate init(_ node: Node, number: Int) throws(YAMLFault) {
        let members = try StrictMapping(node, .rule)
        let answer = try members.required(
            "answer", "answer: leave_to_apple, or answer: with delivery_status, sample_content_provided, …")
        self.init(number: number, verdict: try Verdict(answer))
        name = try members["name"].map { node throws(YAMLFault) in
            try node.text("name is a text of at most 100 characters") { $0.count <= 100 ? $0 : nil }
        }
        products = try members["products"].map { node throws(YAMLFault) in
            try node.list("products", "product ids, at whose end a * stands for anything") { text in
                guard let star = text.firstIndex(of: "*") else { return .exactly(text) }
                return text.index(after: star) == text.endIndex ? .beginning(String(text[..<star])) : nil
            }
        }
        types = try members.set("types", of: ProductType.names)
        reasons = try members.set("reasons", of: ConsumptionRequestReason.known.names)
        environments = try members.set("environments", of: ConsumptionPolicy.environmentNames)
        apps = try members["apps"].map { node throws(YAMLFault) in
            Set(try node.list("apps", "bundle ids") { $0 })
        }
        try checkProrating(answer)
    }

    /// Apple needs the used share for a prorated refund, except for subscriptions, which it prorates by time.
    private func checkProrating(_ node: Node) throws(YAMLFault) {
        guard case .answer(let answer) = verdict, answer.refundPreference == .grantProrated else { return }
        guard let types else {
            throw YAMLFault(
                node,
                "GRANT_PRORATED goes without consumption_percentage for auto-renewable subscriptions and needs one above 0 for "
                    + "all else: say which this rule is for, with types: [auto_renewable], and write another for the rest"
            )
        }
        for type in types {
            if let fault = answer.informationWithConsent.fault(for: type) { throw YAMLFault(node, fault) }
        }
    }
}

extension ConsumptionRule.Verdict {
    fileprivate init(_ node: Node) throws(YAMLFault) {
        if node.scalar != nil {
            self = try node.text(
                "answer is leave_to_apple, or has delivery_status, sample_content_provided, consumption_percentage and "
                    + "refund_preference"
            ) { $0 == "leave_to_apple" ? .leaveToApple : nil }
            return
        }
        let members = try StrictMapping(node, .answer)
        let answer = ConsumptionAnswer(
            deliveryStatus: try members.required("delivery_status")
                .one("delivery_status", of: DeliveryStatus.known.names),
            sampleContentProvided: try members.required(
                "sample_content_provided",
                "sample_content_provided: false, or true where customers can try before they buy"
            ).text("sample_content_provided is true or false") { ["true": true, "false": false][$0] },
            consumptionPercentage: try members["consumption_percentage"].map { node throws(YAMLFault) in
                try node.text(
                    "consumption_percentage is how much was used: 50%, or 12.5%; or as Apple counts, in thousandths of a "
                        + "percent, 50000",
                    Self.milliunits)
            },
            refundPreference: try members["refund_preference"].map { node throws(YAMLFault) in
                try node.one("refund_preference", of: RefundPreference.known.names)
            })
        // The checks for every kind of product; the others depend on the rule.
        if let fault = answer.informationWithConsent.fault(for: nil) { throw YAMLFault(node, fault) }
        self = .answer(answer)
    }

    /// `12.5%` is 12500, and so is 12500. A bare 50 would be a twentieth of a percent, which is never meant.
    private static func milliunits(_ text: String) -> Int64? {
        guard text.hasSuffix("%") else {
            guard let number = Int64(text), number == 0 || (1000...100_000).contains(number) else { return nil }
            return number
        }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ (1...3).contains($0.count) }),
            parts.joined().allSatisfy({ $0.isASCII && $0.isNumber }), let percent = Int64(parts[0])
        else { return nil }
        let fraction = parts.count == 2 ? parts[1] : "0"
        guard let thousandths = Int64(fraction + String(repeating: "0", count: 3 - fraction.count)) else { return nil }
        let number = percent * 1000 + thousandths
        return number <= 100_000 ? number : nil
    }
}

extension ProductType {
    /// Apple's kinds, by their names in a policy.
    static let names: [String: ProductType] = [
        "auto_renewable": .autoRenewableSubscription, "consumable": .consumable, "non_consumable": .nonConsumable,
        "non_renewing": .nonRenewingSubscription,
    ]
}

extension Set where Element: AppleCode, Element.RawValue == String {
    fileprivate var names: [String: Element] { Dictionary(uniqueKeysWithValues: map { ($0.rawValue, $0) }) }
}
