import ArgumentParser

/// A command that changes something, here or elsewhere. Where its answer is lost, a line says that it has done its work all the same:
/// otherwise it would be repeated.
protocol ActingCommand: AsyncParsableCommand {}
