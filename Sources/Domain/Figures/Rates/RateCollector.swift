import Base

/// Takes the days and rates of a file, and checks them by the rules that all forms of files share.
struct RateCollector {
    private(set) var rates: [ExchangeRate] = []
    var findings: [RateFileFault.Finding] = []
    private let last: CalendarDay
    private let most: Int
    /// The day of the next rates; nil where the file's text is no day.
    private var day: CalendarDay?
    /// The last one that is a day.
    private var latest: CalendarDay?
    /// The line of each day.
    private var lines: [CalendarDay: Int] = [:]
    /// Whether later days come later in the file; nil before the second day.
    private var isRising: Bool?
    /// The line of each currency of the day.
    private var currencies: [String: Int] = [:]

    init(through last: CalendarDay, upTo most: Int) {
        self.last = last
        self.most = most
    }

    /// Begins a day.
    /// - Parameter isComplete: whether the file has all working days, so that a gap of more than a week is a fault.
    mutating func begin(_ text: some StringProtocol, line: Int, isComplete: Bool) throws(RateFileFault.Finding) {
        currencies.removeAll(keepingCapacity: true)
        day = CalendarDay(text)
        guard let next = day else {
            return try complain(
                line, text.isEmpty ? "the day is missing" : "\(quoting(text)) is no day, like 2026-03-02")
        }
        let before = latest
        latest = next
        if next > last { try complain(line, "\(next) is yet to come: rates are known up to \(last)") }
        if let earlier = lines.updateValue(line, forKey: next) {
            return try complain(
                line, "\(next) stands on line \(earlier) already: each day stands once, with all its rates")
        }
        guard let before else { return }
        let rises = next > before
        if let isRising, isRising != rises {
            let order = isRising ? "oldest first" : "newest first"
            return try complain(line, "\(next) stands after \(before), out of order: the days above have the \(order)")
        }
        isRising = rises
        if isComplete, abs(next.number - before.number) > Self.longestGap {
            try complain(
                line,
                "no day between \(min(before, next)) and \(max(before, next)) is there: the bank's file has every working day; "
                    + "fetch it again")
        }
    }

    /// Whether this is the text of the day that has begun.
    func isDay(_ text: some StringProtocol) -> Bool { day.map { $0.description == text } ?? false }

    /// Adds a rate to the day that has begun. One of a day that was refused is checked and left out.
    mutating func add(
        _ currency: some StringProtocol, _ rate: some StringProtocol, line: Int
    ) throws(RateFileFault.Finding) {
        let isCurrency = try check(currency, line: line)
        let value: EuroRate
        do throws(EuroRate.Refusal) {
            value = try EuroRate(rate)
        } catch {
            return try complain(line, "the rate of \(quoting(currency)) \(reason(error, rate))")
        }
        guard isCurrency else { return }
        let currency = String(currency)
        if let earlier = currencies.updateValue(line, forKey: currency) {
            return try complain(line, "\(currency) has a rate of that day on line \(earlier) already")
        }
        guard let day else { return }
        guard rates.count < most else {
            throw .init(line: line, message: "it has more than \(most) rates; import it in parts")
        }
        rates.append(ExchangeRate(day: day, currency: currency, rate: value))
    }

    /// Whether a currency may have rates. Where not, that is reported.
    mutating func check(_ currency: some StringProtocol, line: Int) throws(RateFileFault.Finding) -> Bool {
        if currency == CurrencyCode.euro {
            try complain(line, "EUR has no rate: all rates are for one euro")
            return false
        }
        guard CurrencyCode.isKnown(currency) else {
            try complain(
                line,
                currency.isEmpty
                    ? "the currency is missing" : "\(quoting(currency)) is no currency of ISO 4217, like USD")
            return false
        }
        return true
    }

    /// Adds a finding; throws the last one that a file may have.
    mutating func complain(_ line: Int, _ message: String) throws(RateFileFault.Finding) {
        let finding = RateFileFault.Finding(line: line, message: message)
        guard findings.count < RateFileFault.most - 1 else { throw finding }
        findings.append(finding)
    }

    private func reason(_ refusal: EuroRate.Refusal, _ rate: some StringProtocol) -> String {
        switch refusal {
        case .noDecimal where rate.isEmpty: "is missing"
        case .noDecimal:
            "is \(quoting(rate)), and no decimal number with at most nine digits before the point and nine behind, like 1.0823"
        case .zero: "is 0; it is what one euro is of the currency, above 0"
        case .negative: "is \(quoting(rate)), below 0; it is what one euro is of the currency"
        }
    }

    private func quoting(_ text: some StringProtocol) -> String { YAMLFault.quoting(String(text)) }

    /// In days. Banks are closed for five days at most, around Easter and Christmas.
    private static let longestGap: Int64 = 7
}
