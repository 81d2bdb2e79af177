import Foundation

/// Whether long proofs take all of their samples, as behind `deploy/test --full`.
public let takesAllSamples = ProcessInfo.processInfo.environment["STOREHOOK_TEST_FULL"] != nil

/// How many samples a long proof takes: all of them, or a tenth.
/// - Parameter all: how many there are.
public func samples(of all: Int) -> Int { takesAllSamples ? all : max(all / 10, 1) }

/// Whether so much came of samples that they show something. A tenth of them varies more than all do, and has to be more than none.
/// - Parameters:
///   - count: what came of them.
///   - floor: what comes of all samples is more than this.
public func isEnough(_ count: Int, of floor: Int) -> Bool { count > (takesAllSamples ? floor : 0) }

/// The seeds of the random lives that a long proof goes through: all of them, or a tenth, another one in each run.
/// - Parameter all: they begin at 0 and end before it.
public func sampledSeeds(of all: UInt64) -> [UInt64] {
    precondition(all >= 10, "a tenth of fewer may be none")
    let step: UInt64 = takesAllSamples ? 1 : 10
    return Array(stride(from: SeededGenerator().seed % step, to: all, by: Int(step)))
}

/// What a long proof goes through of a list: all of it, or a tenth, chosen by chance.
public func sampled<Element>(_ all: [Element], using generator: inout some RandomNumberGenerator) -> [Element] {
    takesAllSamples ? all : Array(all.shuffled(using: &generator).prefix(samples(of: all.count)))
}
