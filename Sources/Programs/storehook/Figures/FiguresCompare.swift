import ArgumentParser
import Base
import FigureStore
import Figures
import Operations
import Postgres

struct FiguresCompare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare a report of Apple's with the books.",
        discussion: """
            FILE is a Summary Sales Report (versions 1_0 to 1_3) or a Financial
            Report, as App Store Connect sends it: tab separated, compressed with
            gzip or not. A damaged file is refused as a whole, with lines and
            reasons.

            A key is a product, a country, a customer's currency, a price, and sold
            or refunded. Units are compared for each key; for a sales report,
            amounts too. Days are Apple's, in \(AppleReport.timeZone). Exits with 1
            if the differences are more than the tolerance.

            Example: storehook figures compare S_M_80012345_202610.txt.gz
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: ArgumentHelp("The report.", valueName: "file")) var file: String
    @Option(
        help: "The largest accepted share of differences, in units and in amounts of each currency: 0.5%.",
        transform: PriceShare.argument)
    var tolerance = PriceShare.none
    @Option(help: "Only the books of this app (bundle id). The report keeps all apps.") var app: String?
    @Flag(help: "List equal keys, too.") var all = false
    @OptionGroup var output: ListOutput

    func run() async throws {
        let report = try read()
        guard let days = report.days else {
            throw CommandFailure("\(file) has no rows and no dates: there is nothing to compare", status: .usage)
        }
        let settings = try await shared.settings()
        let compared = try await Database.with(settings) { pool in
            ComparedReport(
                report, try await FigureStore(pool).books(of: days, apps: app.map { [$0] }), tolerance: tolerance)
        }
        output.print(CommandAnswer(compared, isWhole: all), next: nil)
        if !compared.isAccepted { throw ExitStatus.failed }
    }

    private func read() throws -> AppleReport {
        let bytes: [UInt8]
        do throws(PlainFile.Fault) { bytes = try PlainFile(file, upTo: AppleReport.longest).bytes } catch {
            throw CommandFailure("\(file) \(error.predicate)", status: .usage)
        }
        do throws(ReportRefusal) { return try AppleReport(bytes) } catch {
            for fault in error.faults.dropFirst() { StandardError.line("storehook: \(file): \(fault)") }
            throw CommandFailure("\(file): \(error.faults.first?.description ?? "\(error)")", status: .usage)
        }
    }
}

extension PriceShare {
    /// Reads `0.5%`.
    fileprivate static func argument(_ text: String) throws -> PriceShare {
        guard let share = PriceShare(text) else {
            throw ValidationError("it is a share from 0% to 100%, with at most three decimals, such as 0.5%")
        }
        return share
    }
}
