import ArgumentParser
import Base
import FigureStore
import Figures
import Foundation
import Operations
import Staff

struct RatesImport: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the rates of a file, all of them or none.",
        discussion: """
            The file is the European Central Bank's eurofxref-hist.xml or
            eurofxref-hist.csv, or lines with commas. The first of these lines is
            date,currency,rate; a rate is one euro in the currency.

            A known rate with another value is corrected, and the earlier value
            stays on record. Rates that the file lacks stay. Figures of these days
            are converted anew within seconds.

            Example: storehook rates import eurofxref-hist.xml
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The file; - is standard input.") var file: String
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        let bytes = try read()
        let settings = try await shared.settings()
        let taken = try await Database.with(settings) { pool in
            let actor = try acting.actor(for: .importRates)
            do {
                let file = try RateFile(bytes, through: try await FigureStore(pool).today())
                return try await RateStore(pool).take(file.rates, digest: Fingerprint(of: bytes), by: actor)
            } catch let fault as RateFileFault {
                throw CommandFailure("\(file): \(fault); nothing was imported")
            }
        }
        output.print(CommandAnswer(taken))
    }

    /// The bytes of the file. A file that is too long is read just far enough to refuse it.
    private func read() throws -> [UInt8] {
        let handle = file == "-" ? .standardInput : FileHandle(forReadingAtPath: file)
        guard let handle else { throw CommandFailure.unreadable(file) }
        do { return [UInt8](try handle.read(upToCount: RateFile.longest + 1) ?? Data()) } catch {
            throw CommandFailure.unreadable(file)
        }
    }
}
